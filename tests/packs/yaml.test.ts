import { describePack } from './describe-pack.fixture.ts'

describePack('yaml', [
  [
    'keys and those one level below, no deeper',
    'name: ci\non:\n  push:\n    branches: [main]\n\njobs:\n  build:\n    steps:\n      - run: x\n\n  test: {needs: build}\n',
    ['key name 1-1', 'key on 2-4', 'key on.push 3-4', 'key jobs 6-11', 'key jobs.build 7-9', 'key jobs.test 11-11'],
  ],
  [
    'keys below in braces, none in a list',
    'env: {A: 1, "B": {c: 2}}\nsteps:\n  - a: 1\n  - b: 2\n',
    ['key env 1-1', 'key env.A 1-1', 'key env.B 1-1', 'key steps 2-4'],
  ],
  [
    'keys without their quotation marks',
    '"a b": 1\n\'c\': 2\nd\': 3\n? e\n: 4\n&x f: 5\n"": 6\n',
    ['key a b 1-1', 'key c 2-2', "key d' 3-3", 'key e 4-5', 'key f 6-6', 'key "" 7-7'],
  ],
  [
    'the keys of every document',
    'kind: A\nmetadata:\n  name: a\n---\nkind: B\n...\n---\n- list\n',
    ['key kind 1-1', 'key metadata 2-3', 'key metadata.name 3-3', 'key kind 5-5'],
  ],
  ['text over several lines to its end', 'run: |\n  one\n\n  two\n\n# about b\nb: 1\n', ['key run 1-4', 'key b 7-7']],
  ['nothing in a list', '- a: 1\n- b\n', []],
  ['what parses around a syntax error', 'a: 1\nb: [1, 2\nc: 3\n', ['key a 1-1', 'key b 2-2', 'key c 3-3']],
])
