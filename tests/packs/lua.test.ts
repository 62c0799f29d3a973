import { describePack } from './describe-pack.fixture.ts'

describePack('lua', [
  [
    'functions, global and local, in one another',
    'function f(a)\n  local function inner() end\nend\nlocal function g() end\n',
    ['function f 1-3', 'function f.inner 2-2', 'function g 4-4'],
  ],
  [
    'functions and methods of tables',
    'function M.open() end\nfunction M.sub.deep() end\nfunction M:close()\nend\n',
    ['function M.open 1-1', 'function M.sub.deep 2-2', 'method M:close 3-4'],
  ],
  [
    'functions that are assigned',
    'local f = function() end\nM.open = function()\nend\nreturn { close = function() end }\n',
    ['function f 1-1', 'function M.open 2-3', 'function close 4-4'],
  ],
  ['no function without a name', 'run(function() end)\nlocal a, b = function() end, 1\n', []],
  [
    'what parses around a syntax error',
    'function good() end\n\nlocal x = = 1\n\nfunction after() end\n',
    ['function good 1-1', 'function after 5-5'],
  ],
])
