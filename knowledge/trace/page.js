// Shows the detail of an event under the mouse or with the keyboard's focus, and moves that focus:
// left and right along time, up and down to the nearest event of another row, F to the fault.
(function () {
  var events = Array.prototype.slice.call(document.querySelectorAll('.pan .e'));
  var detail = document.querySelector('.detail');
  var idle = detail.innerHTML;
  var fault = events.filter(function (e) { return e.classList.contains('fault-event'); })[0];
  function place(e) { return { x: +e.getAttribute('data-x'), row: +e.getAttribute('data-row') }; }
  function show(e) { detail.textContent = e.getAttribute('aria-label'); }
  function go(e) {
    if (!e) return;
    events.forEach(function (other) { other.setAttribute('tabindex', other === e ? '0' : '-1'); });
    e.focus({ preventScroll: true });
    var pan = e.closest('.pan'), x = place(e).x;
    if (x < pan.scrollLeft + 40 || x > pan.scrollLeft + pan.clientWidth - 80)
      pan.scrollLeft = x - pan.clientWidth / 2;
    var box = e.getBoundingClientRect();
    if (box.top < 0 || box.bottom > window.innerHeight - 40) e.scrollIntoView({ block: 'center', inline: 'nearest' });
  }
  function along(e, step) {
    var row = events.filter(function (o) { return place(o).row === place(e).row; });
    row.sort(function (a, b) { return place(a).x - place(b).x; });
    return row[row.indexOf(e) + step];
  }
  function across(e, step) {
    var here = place(e), best = null, least = Infinity;
    events.forEach(function (o) {
      var p = place(o), rows = (p.row - here.row) * step;
      if (rows <= 0) return;
      var far = rows * 1e5 + Math.abs(p.x - here.x);
      if (far < least) { least = far; best = o; }
    });
    return best;
  }
  events.forEach(function (e) {
    e.addEventListener('mouseenter', function () { show(e); });
    e.addEventListener('mouseleave', function () {
      if (document.activeElement && document.activeElement.classList.contains('e')) show(document.activeElement);
      else detail.innerHTML = idle;
    });
    e.addEventListener('focus', function () { show(e); });
    e.addEventListener('click', function () { go(e); });
  });
  document.addEventListener('keydown', function (key) {
    if (key.ctrlKey || key.metaKey || key.altKey) return;
    if (key.key === 'f' || key.key === 'F') return go(fault || events[0]);
    var e = document.activeElement;
    if (!e || !e.classList || !e.classList.contains('e')) return;
    var next = { ArrowRight: along(e, 1), ArrowLeft: along(e, -1), ArrowDown: across(e, 1), ArrowUp: across(e, -1) };
    if (!(key.key in next)) return;
    key.preventDefault();
    go(next[key.key]);
  });
  if (fault) {
    var pan = fault.closest('.pan'), x = place(fault).x;
    if (x > pan.clientWidth - 120) pan.scrollLeft = x - pan.clientWidth / 2;
  }
})();
