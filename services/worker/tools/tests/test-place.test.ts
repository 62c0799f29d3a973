import { afterAll, describe, expect, it } from 'vitest'
import type { TestRunner } from '../programs/run-tests.ts'
import { testPlaceOf } from './test-place.ts'
import { type BenchFiles, openTestsBench } from './tests-bench.fixture.ts'

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
    ['tests/test_a_f.py', 'a.py', {}],
    ['tests/test_a_f.py', 'src/shop/a.py', { 'src/shop/__init__.py': '' }],
    ['tests/test_b_a_f.py', 'shop/b/a.py', { 'shop/__init__.py': '', 'shop/b/__init__.py': '' }],
    ['tests/test_one_a_f.py', 'one/a.py', { 'one/__init__.py': '', 'two/__init__.py': '', 'two/a.py': python }],
    ['test/unit/test_a_f.py', 'a.py', { 'test/unit/test_a.py': 'f' }],
    ['shop/tests/test_a_f.py', 'shop/a.py', { 'shop/tests/test_x.py': '', 'tests/test_y.py': '' }],
    ['tests/test_shop_f.py', 'shop/__init__.py', {}],
  ])('is %s for %s', async (expected, path, files) => {
    expect((await placeOf({ ...files, [path]: python }, path, f)).path).toBe(expected)
  })

  it.each<[string, string, BenchFiles, Runner?]>([
    ['src/a-f.test.ts', 'src/a.ts', {}],
    ['src/a-f.spec.ts', 'src/a.ts', { 'src/b.spec.ts': '' }],
    ['test/a-f.js', 'a.js', { 'test/b.js': '' }],
    ['test/lib-a-f.test.js', 'lib/a.js', { 'test/b.test.js': '' }],
    ['test/a-f.test.mjs', 'src/a.mjs', { 'test/b.test.js': '' }],
  ])('is %s for %s', async (expected, path, files) => {
    expect((await placeOf({ ...files, [path]: script }, path, inScript, 'node')).path).toBe(expected)
  })

  it('is another for each definition of the same name, whatever the case', async () => {
    const files = { 'a.py': 'def f():\n    return 1\n\nclass F:\n    pass\n\ndef f():\n    return 2\n' }
    expect((await placeOf(files, 'a.py', f)).path).toBe('tests/test_a_f.py')
    expect((await placeOf(files, 'a.py', { text: 'class F', name: 'F' })).path).toBe('tests/test_a_F_2.py')
    expect((await placeOf(files, 'a.py', { text: 'def f():\n    return 2', name: 'f' })).path).toBe(
      'tests/test_a_f_3.py',
    )
  })

  it('has the imports that its module and runner need', async () => {
    const imports = async (...of: Parameters<typeof placeOf>) => (await placeOf(...of)).imports
    expect(await imports({ 'a.py': python }, 'a.py', f, 'pytest')).toBe('from a import f\n')
    const adding = { 'src/a.py': python, 'tests/test_b.py': 'import sys\nsys.path.insert(0, "src")\n' }
    expect(await imports(adding, 'src/a.py', f)).toContain('.parents[1] / "src"))\n\nfrom a import f\n')
    expect(await imports({ 'a.ts': script }, 'a.ts', inScript, 'vitest')).toBe(
      "import { expect, test } from 'vitest'\nimport { f } from './a.ts'\n",
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
