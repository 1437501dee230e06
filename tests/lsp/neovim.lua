-- A session in a headless Neovim: diagnostics, hover, code action, an edit. Writes what it saw to
-- $KCHECK_TEST_OUT as JSON. Neovim from 0.7 on.
local seen = {}
local ms = 30000
local name = vim.env.KCHECK_TEST_FILE

local function finish()
  local out = io.open(vim.env.KCHECK_TEST_OUT, 'w')
  out:write(vim.fn.json_encode(seen))
  out:close()
  vim.cmd('qall!')
end

local function diagnostics(buffer)
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(list, { code = d.code or d.user_data.lsp.code, line = d.lnum, column = d.col, severity = d.severity })
  end
  return list
end

local ok, why = pcall(function()
  vim.cmd('edit ' .. vim.fn.fnameescape(name))
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo.filetype = 'cuda'
  local config = { name = 'kcheck', cmd = { vim.env.KCHECK_TEST_BINARY, 'lsp' }, root_dir = vim.fn.getcwd() }
  local id
  if vim.lsp.start then
    id = vim.lsp.start(config)
  else
    id = vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(buffer, id)
  end
  local client
  vim.wait(ms, function()
    client = vim.lsp.get_client_by_id(id)
    return client and #vim.diagnostic.get(buffer) > 0
  end, 20)
  seen.opened = diagnostics(buffer)
  seen.encoding = client.offset_encoding

  local d = vim.diagnostic.get(buffer)[1]
  local position = { line = d.lnum, character = d.col }
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(buffer, method, params, ms)
    return answers[id].result
  end
  local hover = ask('textDocument/hover', { textDocument = document, position = position })
  seen.hover = hover.contents.value
  local lines = vim.lsp.util.convert_input_to_markdown_lines(hover.contents)
  seen.hover_lines = #lines

  -- The last action suppresses in the whole file, the one before it here.
  local actions = ask('textDocument/codeAction', {
    textDocument = document, range = { start = position, ['end'] = position }, context = { diagnostics = {} },
  })
  seen.titles = {}
  for _, action in ipairs(actions) do
    table.insert(seen.titles, action.title)
  end
  vim.lsp.util.apply_workspace_edit(actions[1].edit, client.offset_encoding)
  vim.wait(ms, function() return #vim.diagnostic.get(buffer) == 0 end, 20)
  seen.suppressed = diagnostics(buffer)
  seen.text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  vim.cmd('undo')
  vim.wait(ms, function() return #vim.diagnostic.get(buffer) > 0 end, 20)
  seen.undone = diagnostics(buffer)
  vim.cmd([[%s/wait(bar, 0)/wait(bar, 1)/]])
  vim.wait(ms, function() return #vim.diagnostic.get(buffer) == 0 end, 20)
  seen.fixed = diagnostics(buffer)
  client.stop()
  vim.wait(ms, function() return client.is_stopped() end, 20)
  seen.stopped = client.is_stopped()
end)
if not ok then seen.failed = tostring(why) end
finish()
