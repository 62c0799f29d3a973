import { expect, it } from 'vitest'
import { indexNodes } from '#stages/discover/node-query.ts'
import { describePack } from './describe-pack.fixture.ts'
import { openOutline } from '#stages/discover/outline.fixture.ts'

describePack('json', [
  [
    'pairs and those one level below, no deeper',
    '{\n  "name": "x",\n  "scripts": {\n    "test": "vitest",\n    "deep": { "er": 1 }\n  },\n  "list": [{ "no": 1 }]\n}\n',
    ['key name 2-2', 'key scripts 3-6', 'key scripts.test 4-4', 'key scripts.deep 5-5', 'key list 7-7'],
  ],
  [
    'the key of no letters, as it is written',
    '{"": {"": 1}, "a\\"b\\"": 2}',
    ['key "" 1-1', 'key ""."" 1-1', 'key a\\"b\\" 1-1'],
  ],
  ['pairs among comments', '// c\n{\n  /* x */ "a": 1, // y\n  "b": 2\n}\n', ['key a 3-3', 'key b 4-4']],
  ['nothing in a list or a plain value', '[{"a": 1}]', []],
  [
    'what parses around a syntax error',
    '{\n  "a": {"x": 1},\n  "b": 1 2,\n  "c": 3\n}\n',
    ['key a 2-2', 'key a.x 2-2', 'key b 3-3', 'key c 4-4'],
  ],
])

it('takes the last commas of a tsconfig.json, as TypeScript does, and no other ones', async () => {
  const json = await openOutline('json')
  const brokenIn = (text: string) => indexNodes(new TextEncoder().encode(text), json.query).broken
  const settings = '{\n  "compilerOptions": { "lib": ["es6",], }, // all\n  "include": ["**/*.ts"],\n}\n'
  expect(json.of(settings)).toEqual(['key compilerOptions 2-2', 'key compilerOptions.lib 2-2', 'key include 3-3'])
  expect(brokenIn(settings)).toEqual([])
  expect(brokenIn('{\n  "a": [1,,],\n  "b": 2\n}')).toEqual(['a'])
})
