import { afterAll, describe, expect, it } from 'vitest'
import type { TestRunner } from '#stages/operate/tools/programs/run-tests.ts'
import { testPlaceOf } from './test-place.ts'
import { type BenchFiles, openTestsBench } from '#stages/operate/tools/tests/tests-bench.fixture.ts'

const bench = openTestsBench({
  run: async () => {
    throw new Error('nothing is run')
  },
})
afterAll(() => bench.close())

type Runner = Exclude<TestRunner, 'auto'>

async function placeOf(
  files: BenchFiles,
  path: string,
  of: { text: string; name: string },
  runner: Runner = 'unittest',
) {
  const { workspace, target } = await bench.attempt(files, { path, ...of })
  return testPlaceOf(target, { runner, tool: runner, version: '1' }, { workspace, syntax: bench.syntax })
}

const f = { text: 'def f', name: 'f' }
const inScript = { text: 'export', name: 'f' }
const python = 'def f():\n    return 1\n'
const script = 'export function f() { return 1 }\n'

describe('the place of the tests of a node', () => {
  it.each<[string, string, BenchFiles]>([
    ['tests/test_a.py', 'a.py', {}],
    ['tests/test_a.py', 'src/shop/a.py', { 'src/shop/__init__.py': '' }],
    ['tests/test_b_a.py', 'shop/b/a.py', { 'shop/__init__.py': '', 'shop/b/__init__.py': '' }],
    ['tests/test_one_a.py', 'one/a.py', { 'one/__init__.py': '', 'two/__init__.py': '', 'two/a.py': python }],
    ['test/unit/test_a.py', 'a.py', { 'test/unit/test_a.py': 'f' }],
    ['shop/tests/test_a.py', 'shop/a.py', { 'shop/tests/test_x.py': '', 'tests/test_y.py': '' }],
    ['tests/test_shop.py', 'shop/__init__.py', {}],
    [
      'tests/b/c/test_a.py',
      'shop/b/c/a.py',
      { 'shop/__init__.py': '', 'tests/b/c/test_z.py': '', 'tests/d/test_y.py': 'from shop.d import f, a' },
    ],
    [
      'tests/b/test_b_a.py',
      'shop/b/a.py',
      { 'shop/__init__.py': '', 'tests/b/test_z.py': '', 'tests/d/test_a.py': 'from shop.d import a' },
    ],
    [
      'tests/b/test_a.py',
      'shop/b/a.py',
      { 'shop/__init__.py': '', 'tests/b/__init__.py': '', 'tests/b/test_z.py': '', 'tests/d/test_a.py': '' },
    ],
    ['tests/b/test_b.py', 'shop/b/__init__.py', { 'shop/__init__.py': '', 'tests/b/test_z.py': '' }],
  ])('is %s for %s', async (expected, path, files) => {
    expect((await placeOf({ ...files, [path]: python }, path, f)).path).toBe(expected)
  })

  it.each<[string, string, BenchFiles, Runner?]>([
    ['src/a.test.ts', 'src/a.ts', {}],
    ['src/a.spec.ts', 'src/a.ts', { 'src/b.spec.ts': '' }],
    ['test/a.js', 'a.js', { 'test/b.js': '' }],
    ['test/lib-a.test.js', 'lib/a.js', { 'test/b.test.js': '' }],
    ['test/a.test.mjs', 'src/a.mjs', { 'test/b.test.js': '' }],
  ])('is %s for %s', async (expected, path, files) => {
    expect((await placeOf({ ...files, [path]: script }, path, inScript, 'node')).path).toBe(expected)
  })

  it.each<[string, string, BenchFiles]>([
    [
      'the one that has its name, wherever that is',
      'tests/unit/test_a.py',
      { 'tests/unit/test_a.py': 'from shop.a import x\nclass T:\n    def test_x(self): ...' },
    ],
    [
      'not one of another module of its name',
      'tests/unit/test_shop_a.py',
      {
        'shop/b/a.py': '',
        'one/__init__.py': '',
        'tests/unit/test_a.py': 'from one.a import x\nclass T:\n    def test_x(self): ...',
      },
    ],
  ])('is %s', async (_, expected, files) => {
    const all = { 'tests/test_z.py': '', 'shop/a.py': python, 'shop/__init__.py': '', ...files }
    expect((await placeOf(all, 'shop/a.py', f)).path).toBe(expected)
  })

  it('is one for all of its module, where each definition has a name of its own, whatever the case', async () => {
    const files = { 'a.py': 'def f():\n    return 1\n\nclass F:\n    pass\n\ndef f():\n    return 2\n' }
    const nodes = [f, { text: 'class F', name: 'F' }, { text: 'def f():\n    return 2', name: 'f' }]
    const places = []
    for (const node of nodes) places.push(await placeOf(files, 'a.py', node))
    expect(places.map(({ path, label }) => `${path} ${label}`)).toEqual([
      'tests/test_a.py f',
      'tests/test_a.py F_2',
      'tests/test_a.py f_3',
    ])
  })

  it('has the style of the tests that are there, and else that of the runner', async () => {
    const style = async (text: string, runner: Runner) =>
      (await placeOf({ 'a.py': python, 'tests/test_z.py': text }, 'a.py', f, runner)).style
    const unittest = 'class TestZ(unittest.TestCase):\n    def test_z(self): ...\n'
    expect([
      await style(unittest, 'pytest'),
      await style('def test_z(): ...\n', 'pytest'),
      await style('', 'pytest'),
    ]).toEqual(['unittest', 'functions', 'functions'])
    const lacking = { 'a.py': python, 'tests/test_a.py': 'import pytest\n' }
    expect(await placeOf(lacking, 'a.py', f)).toMatchObject({ path: 'tests/test_a_unittest.py', base: undefined })
    expect(await style('def test_z(): ...\n', 'unittest')).toBe('unittest')
  })

  it('has the imports that its module and runner need', async () => {
    const imports = async (...of: Parameters<typeof placeOf>) => (await placeOf(...of)).imports
    expect(await imports({ 'a.py': python }, 'a.py', f, 'pytest')).toBe('from a import f\n')
    const adding = { 'src/a.py': python, 'tests/test_b.py': 'import sys\nsys.path.insert(0, "src")\n' }
    expect(await imports(adding, 'src/a.py', f)).toContain('.parents[1] / "src"))\n\nfrom a import f\n')
    expect(await imports({ 'a.ts': script }, 'a.ts', inScript, 'vitest')).toBe(
      "import { describe, expect, test } from 'vitest'\nimport { f } from './a.ts'\n",
    )
    const common = 'function f() { return 1 }\nmodule.exports = { f }\n'
    const inCommon = { text: 'function f', name: 'f' }
    expect(await imports({ 'a.js': common }, 'a.js', inCommon, 'node')).toContain("const { f } = require('./a.js')\n")
  })

  it('is refused for what no file can import', async () => {
    await expect(placeOf({ 'my-tool.py': python }, 'my-tool.py', f)).rejects.toThrow('no test can import my-tool.py')
    const hidden = { 'a.js': 'function f() { return 1 }\n' }
    await expect(placeOf(hidden, 'a.js', { text: 'function f', name: 'f' }, 'node')).rejects.toThrow(
      'does not export it',
    )
  })
})
