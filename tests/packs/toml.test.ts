import { describePack } from './describe-pack.fixture.ts'

describePack('toml', [
  [
    'tables with their pairs',
    'top = 1\n\n[package]\nname = "x"\nlist = [\n  1,\n]\n\n[profile.release]\nlto = true\n',
    ['table package 3-7', 'table profile.release 9-10'],
  ],
  [
    'names as they are written',
    '[tool."x.y"]\n[ a . b ]\n["q r"]\n',
    ['table tool."x.y" 1-1', 'table a . b 2-2', 'table "q r" 3-3'],
  ],
  [
    'arrays of tables, equal ones too',
    '[[bin]]\nname = "a"\n\n[[bin]]\nname = "b"\n[bin.x]\n',
    ['array_table bin 1-2', 'array_table bin 4-5', 'table bin.x 6-6'],
  ],
  [
    'no comment that stands before the next table',
    '[a]\nx = 1 # why\n\n# about b\n[b]\ny = 2\n',
    ['table a 1-2', 'table b 5-6'],
  ],
  ['no inline tables', 'x = { y = 1 }\na.b = 2\n', []],
  ['what parses around a syntax error', '[a]\nx = 1\n\n[b]\ny = = 2\n\n[c]\nz = 3\n', ['table a 1-2', 'table c 7-8']],
])
