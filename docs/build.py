#!/usr/bin/env python3
"""The documentation site: build.py OUT. Needs the Python packages markdown and PyYAML.

A page for every rule (rules/ID.html, the `url` of a finding), one for every page of the knowledge base
(pages/ID.html), the README, and what stands in docs/*.md. Plain HTML files that need no server: the
search runs over an index that is a script. Nothing here is read by kcheck.
"""
import glob
import html
import json
import os
import re
import sys

import markdown
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KINDS = ('technique', 'hardware', 'pattern', 'kernel', 'language', 'migration', 'skill')
STYLE = '''
:root{--ink:#1c1c1c;--soft:#666;--line:#ddd;--back:#fff;--code:#f6f6f4;--link:#0b57a4;--bad:#b3261e;--good:#1e6e34}
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--soft:#999;--line:#3a3a3a;--back:#181818;--code:#222;--link:#7ab8ff;--bad:#ff8a80;--good:#8fd19e}}
*{box-sizing:border-box}body{margin:0;color:var(--ink);background:var(--back);font:16px/1.55 system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
header{border-bottom:1px solid var(--line);padding:.6em 1.2em;display:flex;gap:1.4em;align-items:baseline;flex-wrap:wrap}
header b{font-size:1.1em}header input{font:inherit;padding:.2em .5em;min-width:14em;color:inherit;background:var(--back);border:1px solid var(--line);border-radius:4px}
main{max-width:54rem;margin:0 auto;padding:1rem 1.2rem 4rem}h1{line-height:1.25}h2{margin-top:2em;border-bottom:1px solid var(--line)}
pre{background:var(--code);padding:.8em 1em;overflow-x:auto;border-left:3px solid var(--line);font-size:.86em;line-height:1.45}
pre.bad{border-color:var(--bad)}pre.good{border-color:var(--good)}code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.3em .6em;text-align:left;vertical-align:top}
.meta{color:var(--soft);font-size:.9em}.tag{border:1px solid var(--line);border-radius:3px;padding:0 .35em;margin-right:.3em}
.error{color:var(--bad)}#hits{list-style:none;padding:0}#hits li{margin:.5em 0}#hits small{color:var(--soft);display:block}
'''
SEARCH = '''
const box=document.getElementById("q"),hits=document.getElementById("hits"),main=document.querySelector("main");
const text=s=>{const d=document.createElement("span");d.textContent=s;return d.innerHTML};
box.addEventListener("input",()=>{
  const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  hits.innerHTML="";if(!words.length)return;
  const found=[];
  for(const [href,title,body] of INDEX){
    const t=(href+" "+title).toLowerCase(),b=body.toLowerCase();let score=0;
    for(const w of words){const s=(t.includes(w)?10:0)+Math.min(b.split(w).length-1,5);if(!s){score=0;break}score+=s}
    if(score)found.push([score,href,title,body]);
  }
  found.sort((a,b)=>b[0]-a[0]);
  for(const [,href,title,body] of found.slice(0,20)){
    const at=Math.max(0,body.toLowerCase().indexOf(words[0])-60);
    hits.innerHTML+=`<li><a href="${BASE}${href}">${text(title)}</a><small>${text(body.slice(at,at+180))}</small></li>`;
  }
});
'''


def anchor(title, _separator='-'):
    """As `kcheck page` makes them (analyzer/knowledge/page.c)."""
    return ''.join(c.lower() if c.isascii() and c.isalnum() else '-' if c in ' -' else '' for c in title)


def to_html(text):
    """Markdown with tables and fences; a fence may say more than its language."""
    text = re.sub(r'^```(\w+)[ \t]+(.*)$', lambda m: caption(m.group(2)) + '\n```' + m.group(1), text, flags=re.M)
    text = re.sub(r'(?m)^((?!\|).+)\n(\|.*\|)$', r'\1\n\n\2', text)
    return markdown.markdown(text, extensions=['tables', 'fenced_code', 'toc'],
                             extension_configs={'toc': {'slugify': anchor}})


def caption(info):
    wrong = re.search(r'wrong=(\S+)', info)
    target = re.search(r'arch=(\S+)', info)
    if not wrong:
        return ''
    rules = ', '.join('[%s](../rules/%s.html)' % (r, r) for r in wrong.group(1).split(','))
    return '\n*Wrong%s: %s.*\n' % (' for ' + target.group(1) if target else '', rules)


class Site:
    def __init__(self, out):
        self.out, self.index = out, []
        self.pages = [read_page(p) for p in sorted(glob.glob(os.path.join(ROOT, 'knowledge', 'pages', '*', '*.md')))]
        self.rules = [yaml.safe_load(open(p, encoding='utf-8'))
                      for p in sorted(glob.glob(os.path.join(ROOT, 'rules', '*', '*.yaml')))]
        with open(os.path.join(ROOT, 'fixtures', 'reference', 'runs.yaml'), encoding='utf-8') as f:
            self.runs = {r['file']: r for r in yaml.safe_load(f)['kernels']}
        self.page_ids = {p['id'] for p in self.pages}
        self.rule_ids = {r['id'] for r in self.rules}

    def link(self, name):
        """`name` as a link when it is a page or a rule."""
        if name in self.page_ids:
            return '[%s](../pages/%s.html)' % (name, name)
        if name in self.rule_ids:
            return '[%s](../rules/%s.html)' % (name, name)
        return '`%s`' % name

    def write(self, href, title, body, words):
        base = '../' * href.count('/')
        self.index.append([href, title, re.sub(r'\s+', ' ', re.sub(r'<[^>]+>', ' ', words))[:6000]])
        path = os.path.join(self.out, href)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
                    '<meta name="viewport" content="width=device-width,initial-scale=1">'
                    '<title>%s - kcheck</title><link rel="stylesheet" href="%sstyle.css"></head>\n<body><header>'
                    '<b><a href="%sindex.html">kcheck</a></b><a href="%srules/index.html">rules</a>'
                    '<a href="%spages/index.html">pages</a><a href="%sdocs/editors.html">editors</a><a href="%sdocs/witness.html">witness</a><a href="%sdocs/hardware.html">hardware</a><a href="%sdocs/real-kernels.html">real kernels</a>'
                    '<a href="%sdocs/claims.html">claims</a><a href="%sdocs/coverage.html">coverage</a>'
                    '<input id="q" type="search" placeholder="search" aria-label="search"></header>\n'
                    '<main><ul id="hits"></ul>\n%s\n</main>\n<script>const BASE="%s"</script>'
                    '<script src="%sindex.js"></script></body></html>\n'
                    % ((html.escape(title),) + (base,) * 10 + (body, base, base)))

    def rule_page(self, rule):
        archs = ' '.join('<span class="tag">%s</span>' % a for a in rule.get('archs', []))
        parts = ['# %s' % rule['id'], '%s.' % rule['summary'].rstrip('.').capitalize(),
                 '<p class="meta"><span class="tag %s">%s</span>%s %s, since %s</p>'
                 % (rule['severity'], rule['severity'], archs, rule.get('engine', ''), rule.get('since', '')),
                 '## What it does', rule.get('trigger', ''), '## Why it is bad', rule.get('consequence', ''),
                 '## What to do', rule.get('help', '')]
        for key, title in (('bad', 'Example'), ('good', 'Use instead')):
            if rule.get(key):
                parts += ['## %s' % title, '<pre class="%s"><code>%s</code></pre>' % (key, html.escape(rule[key].rstrip()))]
        if rule.get('not_when'):
            parts += ['## Not reported', '\n'.join('* %s' % n for n in rule['not_when'])]
        if rule.get('tools'):
            parts += ['## What other tools say', '\n'.join('* %s: %s' % t for t in sorted(rule['tools'].items()))]
        place = rule['page'] + ('#' + rule['anchor'] if rule.get('anchor') else '')
        parts += ['## References', '* page: [%s](../pages/%s)' % (place, place.replace('#', '.html#') if '#' in place else place + '.html'),
                  '\n'.join('* %s' % e for e in rule.get('evidence', [])),
                  '## Suppress', '    // kcheck: ignore[%s] why it is right here' % rule['id']]
        text = '\n\n'.join(p for p in parts if p)
        self.write('rules/%s.html' % rule['id'], rule['id'], to_html(text), text)

    def wiki_page(self, page):
        head, _, rest = page['text'].partition('\n')
        meta = '<p class="meta">%s</p>' % ' '.join(
            '<span class="tag">%s</span>' % html.escape(str(t)) for t in page.get('architectures', []) + page.get('tags', []))
        parts = [head, meta, rest]
        if page.get('caveats'):
            rows = ['| caveat | checked by | evidence |', '|---|---|---|']
            for c in page['caveats']:
                named = c.get('rule') or []
                by = ', '.join(self.link(r) for r in ([named] if isinstance(named, str) else named))
                rows.append('| %s | %s | %s |' % tuple(cell(x) for x in (c['text'], by or 'nothing: ' + c.get('not_checkable', ''),
                                                                        c.get('evidence', ''))))
            parts += ['## Caveats', '\n'.join(rows)]
        for key, title in (('prerequisites', 'Read before'), ('related', 'Related')):
            if page.get(key):
                parts += ['**%s:** %s' % (title, ', '.join(self.link(n) for n in page[key]))]
        if page.get('code'):
            parts += ['**Kernels that show it:**', '\n'.join('* `fixtures/reference/%s`: %s' % (c, self.run_of(c)) for c in page['code'])]
        if page.get('sources'):
            parts += ['**Sources:** %s' % '; '.join(html.escape(str(s)) for s in page['sources'])]
        text = '\n\n'.join(parts)
        self.write('pages/%s.html' % page['id'], page['title'], to_html(self.named(text)), text)

    def run_of(self, kernel):
        """What became of a reference kernel."""
        run = self.runs[kernel]
        if run.get('ran'):
            return '[run on %s](../docs/hardware.html#reference-kernels), largest error %s against %s' % (run['ran'], run['error'], run['against'])
        return 'compiled for %s, not run: %s' % (run['target'], run['not_run'])

    def named(self, text):
        """Names of pages and rules in backquotes become links, outside code blocks."""
        out, code = [], False
        for line in text.split('\n'):
            code ^= line.startswith('```')
            if not code and not line.startswith('    '):
                line = re.sub(r'(?<!\[)`([a-z0-9]+(?:-[a-z0-9]+)+)`', lambda m: self.link(m.group(1)), line)
            out.append(line)
        return '\n'.join(out)

    def lists(self):
        rows = ['# Rules', '%d rules. `kcheck explain RULE` prints one.' % len(self.rules)]
        for family in sorted({r['family'] for r in self.rules}):
            rows += ['## %s' % family, '| rule | severity | finds |\n|---|---|---|\n' + '\n'.join(
                '| %s | %s | %s |' % (self.link(r['id']), r['severity'], cell(r['summary']))
                for r in self.rules if r['family'] == family)]
        self.write('rules/index.html', 'Rules', to_html('\n\n'.join(rows)), 'all rules')
        rows = ['# Pages', 'The knowledge base that findings lead to. `kcheck page ID` prints one.']
        for kind in KINDS:
            there = [p for p in self.pages if p['type'] == kind]
            rows += ['## %s' % kind, '\n'.join('* [%s](%s.html)' % (p['title'], p['id']) for p in there)] if there else []
        self.write('pages/index.html', 'Pages', to_html('\n\n'.join(rows)), 'all pages')

    def documents(self):
        for path in sorted(glob.glob(os.path.join(ROOT, 'docs', '*.md'))):
            name = os.path.basename(path)[:-3]
            text = open(path, encoding='utf-8').read()
            self.write('docs/%s.html' % name, text.split('\n')[0].lstrip('# '), to_html(self.named(text)), text)
        for path in glob.glob(os.path.join(ROOT, 'docs', '*.svg')):
            with open(path, encoding='utf-8') as f, open(os.path.join(self.out, 'docs', os.path.basename(path)), 'w', encoding='utf-8') as g:
                g.write(f.read())
        readme = open(os.path.join(ROOT, 'README.md'), encoding='utf-8').read()
        text = re.sub(r'\]\(docs/([\w-]+)\.md(#[\w-]*)?\)', r'](docs/\1.html\2)', readme)
        # What the site does not hold (a file of the source) is text, no link.
        elsewhere = r'<a href="(?!https?:|#|docs/[\w-]+\.(?:html|svg))[^"]*">(.*?)</a>'
        self.write('index.html', 'kcheck', re.sub(elsewhere, r'\1', to_html(text)), readme)

    def build(self):
        os.makedirs(self.out, exist_ok=True)
        for rule in self.rules:
            self.rule_page(rule)
        for page in self.pages:
            self.wiki_page(page)
        self.lists()
        self.documents()
        with open(os.path.join(self.out, 'style.css'), 'w') as f:
            f.write(STYLE)
        with open(os.path.join(self.out, 'index.js'), 'w', encoding='utf-8') as f:
            f.write('const INDEX=%s;\n%s' % (json.dumps(self.index, ensure_ascii=False), SEARCH))
        return len(self.index)


def cell(text):
    return re.sub(r'\s+', ' ', str(text)).replace('|', '\\|')


def read_page(path):
    text = open(path, encoding='utf-8').read()
    _, front, body = text.split('---\n', 2)
    page = yaml.safe_load(front)
    page['text'] = body.lstrip()
    return page


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit('usage: build.py OUT')
    print('%d pages in %s' % (Site(sys.argv[1]).build(), sys.argv[1]))


if __name__ == '__main__':
    main()
