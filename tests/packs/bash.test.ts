import { describePack } from './describe-pack.fixture.ts'

describePack('bash', [
  [
    'functions in all their spellings',
    'one() {\n  echo\n}\nfunction two {\n  echo\n}\nfunction three() ( echo )\nfour ()\n{\n  echo\n}\n',
    ['function one 1-3', 'function two 4-6', 'function three 7-7', 'function four 8-11'],
  ],
  [
    'names with other signs than letters',
    '_x() { :; }\na-b() { :; }\nns::run() { :; }\n',
    ['function _x 1-1', 'function a-b 2-2', 'function ns::run 3-3'],
  ],
  [
    'functions in functions and in conditions',
    'outer() {\n  inner() { :; }\n}\nif true; then\n  late() { :; }\nfi\n',
    ['function outer 1-3', 'function outer.inner 2-2', 'function late 5-5'],
  ],
  ['no arrays, no subshells', 'x=(1 2)\n(echo)\ny=$(z)\n', []],
  ['no function in a here-document', 'cat <<EOF\nf() { :; }\nEOF\ng() { :; }\n', ['function g 4-4']],
  ['what parses before a syntax error', 'good() { :; }\nif then\nbad( {\n', ['function good 1-1']],
])
