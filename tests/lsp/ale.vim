" A session in Vim with ALE: diagnostics, an edit. Writes what it saw to $KCHECK_TEST_OUT as JSON.
set nocompatible hidden
filetype plugin on
let g:ale_linters = {'cuda': ['kcheck']}
let g:ale_linters_explicit = 1
let g:ale_history_enabled = 0
set runtimepath^=/usr/share/vim-ale
runtime plugin/ale.vim
call ale#linter#Define('cuda', {
      \ 'name': 'kcheck', 'lsp': 'stdio', 'executable': $KCHECK_TEST_BINARY, 'command': '%e lsp',
      \ 'project_root': {buffer -> getcwd()}})

" Sleeps until the location list holds something, or nothing.
function! Wait(full)
  for i in range(300)
    if (len(getloclist(0)) > 0) == a:full
      return
    endif
    sleep 100m
  endfor
endfunction

execute 'edit ' . fnameescape($KCHECK_TEST_FILE)
set filetype=cuda
ALELint
call Wait(1)
let seen = {'opened': map(getloclist(0), '{"line": v:val.lnum, "column": v:val.col, "text": v:val.text}')}
%s/wait(bar, 0)/wait(bar, 1)/
ALELint
call Wait(0)
let seen.fixed = len(getloclist(0))
call writefile([json_encode(seen)], $KCHECK_TEST_OUT)
qall!
