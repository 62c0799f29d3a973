import { afterAll, describe, expect, it } from 'vitest'
import { defaultRulesOf, type PathRules } from '#domain/path-rules.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { testExternals } from '../externals.ts'
import { type BenchFiles, openTestsBench } from '#stages/operate/tools/tests/tests-bench.fixture.ts'

const { sandbox, lack } = await testSandbox(process.env)
const linter = await openTestLinter()
const python = await loadLanguage('python')
const proofs = { runs: 2, mutants: 2 }
const bench = openTestsBench(sandbox, { proofs })
const thoroughBench = openTestsBench(sandbox)
/** This bench has short limits, since some programs use all that they may. */
const smallBench = openTestsBench(sandbox, { proofs, wallMs: 3_000, diskBytes: 64 * 1024 ** 2 })
afterAll(async () => {
  await Promise.all([bench, thoroughBench, smallBench].map((one) => one.close()))
  await linter.close()
})

const shop = 'def price(count):\n    if count > 10:\n        return count * 2\n    return count * 3\n'
const files: BenchFiles = { 'shop.py': shop, 'tests/test_other.py': 'import unittest\n' }
const path = 'tests/test_shop.py'

async function externals(
  given: BenchFiles = files,
  node = { path: 'shop.py', text: 'def price', name: 'price' },
  { of = defaultRulesOf, on = bench }: { of?: (path: string) => PathRules; on?: typeof bench } = {},
) {
  const { workspace, target, tests, programs } = await on.attempt(given, node)
  const signal = new AbortController().signal
  const rulesOf = async (one: string) => of(one)
  const deps = { linter, python, syntax: bench.syntax, programs, tests, rulesOf, signal }
  return { workspace, ...testExternals(workspace, target, deps) }
}

/** What becomes of a text of tests, and the file that is left. */
async function written(text: string, given = files, on = bench) {
  const { workspace, write_tests: write } = await externals(given, undefined, { on })
  const outcome = await write([text]).catch((error: unknown) => {
    if (error instanceof Error) return { refused: error.message }
    throw error
  })
  return { ...outcome, text: workspace.exists(path) ? await workspace.readText(path) : undefined }
}

const inClass = (body: string) =>
  `import unittest\n\nfrom shop import price\n\n\nclass PriceTest(unittest.TestCase):\n${body}`
const few = '    def test_few(self):\n        self.assertEqual(price(10), 30)\n'

describe.skipIf(lack !== undefined)(`write_tests${lack === undefined ? '' : ` (${lack})`}`, () => {
  it('keeps what always passes, drops what does not, and says which faults nobody noticed', async () => {
    // The last of its runs has another time zone.
    const flipping =
      '    def test_zone(self):\n        import time\n        self.assertEqual(time.localtime(0).tm_hour, 0)\n'
    const wrong = '\n    def test_wrong(self):\n        self.assertEqual(price(1), 4)\n\n'
    const found = await written(inClass(`${few}${wrong}${flipping}`), files, thoroughBench)
    expect(found).toMatchObject({ path, kept: 1, runs: 3, planted_faults: 8 })
    expect(found).toMatchObject({ not_noticed: expect.arrayContaining(['line 3: `2` became `3`']) })
    expect(JSON.stringify(found)).toContain('AssertionError: 3 != 4')
    expect(JSON.stringify(found)).toContain('it passed in only 2 of 3 runs')
    expect(found.text).toBe(inClass(few))
  })

  it('adds the imports that a text lacks, and takes away a fence and what is not used', async () => {
    const body =
      'class PriceTest(unittest.TestCase):\n    def test_few(self):\n        self.assertEqual(price(10), 30)\n'
    const { text } = await written(`\`\`\`python\nimport os\n${body}\`\`\``)
    expect(text).toContain('import unittest\n\nfrom shop import price\n')
    expect(text).not.toContain('```')
    expect(text).not.toContain('import os')
  })

  it.each([
    ['asserts nothing', inClass('    def test_it(self):\n        price(1)\n'), 'the tests pass whatever the code does'],
    ['has no test', 'import unittest\n\nfrom shop import price\n\nprint(price(1))\n', 'the text has no test'],
    ['does not parse', inClass('    def test_it(self:\n'), 'does not parse'],
    ['is empty', '  \n', 'the text is empty'],
    ['is a megabyte long', `${inClass(few)}# ${'x'.repeat(1_000_000)}\n`, 'more than 40000 characters'],
    [
      'fails as a whole',
      inClass('    def test_it(self):\n        self.assertEqual(price(1), 4)\n'),
      'AssertionError: 3 != 4',
    ],
    [
      'reads files of the machine',
      inClass('    def test_it(self):\n        open("/etc/shadow").read()\n        self.assertEqual(price(1), 3)\n'),
      'No such file',
    ],
    ['ends the process', `${inClass(few)}\n\nimport os  # noqa: E402\n\nos._exit(0)\n`, 'the tests cannot be run'],
    [
      'forges a report',
      `${inClass(few)}\n\nimport os  # noqa: E402\n\nopen("/tmp/remora-tests.xml", "w").write("<testsuites><testsuite><testcase name='test_few'/></testsuite></testsuites>")\nos._exit(0)\n`,
      'whatever the code does',
    ],
  ])('refuses a text that %s, and leaves nothing of it', { timeout: 60_000 }, async (_, text, reason) => {
    const found = await written(text)
    expect(found).toMatchObject({ refused: expect.stringContaining(reason) })
    expect(found.text).toBeUndefined()
  })

  it.each([
    ['loops for ever', /its limit of time/, 'while True:\n            pass'],
    [
      'writes gigabytes',
      /No space left on device/,
      'with open("/tmp/x", "wb") as file:\n            while True:\n                file.write(bytes(10_000_000))',
    ],
  ] as const)('refuses a test that %s', { timeout: 120_000 }, async (_, reason, body) => {
    const text = inClass(`    def test_it(self):\n        ${body}\n        self.assertEqual(price(1), 3)\n`)
    const found = await written(text, files, smallBench)
    expect(found).toMatchObject({ refused: expect.stringMatching(reason) })
    expect(found.text).toBeUndefined()
  })

  it("wraps lines over the repository's limit, and refuses those that cannot be wrapped", async () => {
    const many = `[price(1), ${'price(2), '.repeat(10)}price(3)]`
    const wide = inClass(`    def test_few(self):\n        self.assertEqual(${many}, [3, ${'6, '.repeat(10)}9])\n`)
    const { text = '' } = await written(wide)
    expect(text).toContain('self.assertEqual(\n')
    expect(text.split('\n').filter(({ length }) => length > 88)).toEqual([])
    const name = `'${'a'.repeat(100)}'`
    const whole = inClass(`    def test_few(self):\n        self.assertEqual((${name}, price(10)), (${name}, 30))\n`)
    expect(await written(whole)).toMatchObject({
      refused: expect.stringMatching(/^line \d+ has 1\d\d characters; at most 88/),
    })
  })

  it("refuses a test in JavaScript that the repository's linter finds fault with", async () => {
    const source = { path: 'lib/a.js', text: 'exports.f', name: 'f' }
    const strict = (one: string): PathRules => {
      const rules = defaultRulesOf(one)
      return { ...rules, lint: { ...rules.lint, options: { rules: { 'no-var': 'error' } } } }
    }
    const script = { 'lib/a.js': 'exports.f = (n) => n + 1\n', 'test/b.js': "'use strict'\n" }
    const { write_tests: write, workspace } = await externals(script, source, { of: strict })
    const test = (keyword: string) => `test('it adds', () => {\n  ${keyword} sum = f(1)\n  assert.equal(sum, 2)\n})\n`
    await expect(write([test('var')])).rejects.toThrow('no-var')
    await write([test('const')])
    expect(await workspace.readText('test/lib-a.js')).toMatch(/^'use strict'\n\nconst assert = require/)
  })

  it('adds to the file that its module has, in its style, and touches no line of that', async () => {
    const their = `import unittest
from shop import (
    cost,
    tax,
)


class PriceTest(unittest.TestCase):
    def test_tax(self):
        self.assertEqual(tax(2), 1)


if __name__ == '__main__':
    unittest.main()
`
    const source = `${shop}\n\ndef tax(n):\n    return n // 2\n\n\ndef cost(n):\n    return price(n) + tax(n)\n`
    const there = { 'shop.py': source, [path]: their }
    const { text } = await written(
      `"""Of price."""\n${inClass(few)}\n\nif __name__ == '__main__':\n    unittest.main()\n`,
      there,
    )
    expect(text).toBe(
      their
        .replace('    tax,\n', '    tax,\n    price,\n')
        .replace('if __name__', `class PriceTest2(unittest.TestCase):\n${few}\n\nif __name__`),
    )
    const inFunction = 'from shop import price\n\n\ndef test_few():\n    assert price(10) == 30\n'
    expect(await written(inFunction, there)).toMatchObject({
      refused: expect.stringContaining('unittest.TestCase'),
      text: their,
    })
  })

  it('keeps no test because one that was there before notices a fault', async () => {
    const source = `${shop}\n\ndef cost(n):\n    return price(n)\n`
    const there = {
      'shop.py': source,
      [path]: inClass(few).replaceAll('price', 'cost').replace('PriceTest', 'CostTest'),
    }
    const idle = inClass('    def test_it(self):\n        price(1)\n')
    expect(await written(idle, there)).toMatchObject({ refused: expect.stringContaining('whatever the code does') })
  })

  it('keeps what it wrote before when a later text is refused', async () => {
    const { workspace, write_tests: write } = await externals()
    await write([inClass(few)])
    await expect(write([inClass('    def test_it(self):\n        price(1)\n')])).rejects.toThrow('planted faults')
    expect(await workspace.readText(path)).toBe(inClass(few))
  })
})

describe.skipIf(lack !== undefined)(`describe_tests and run_snippet${lack === undefined ? '' : ` (${lack})`}`, () => {
  it('say what runs the tests, where they go, how they begin, and what the repository has', async () => {
    const { describe_tests: describeTests } = await externals()
    expect(await describeTests()).toMatchObject({
      qualified_name: 'price',
      runner: 'unittest',
      test_path: path,
      imports: 'import unittest\n\nfrom shop import price\n',
      import_here: 'from shop import price',
      tests_naming_it: [],
      example: { path: 'tests/test_other.py' },
      signature: { parameters: [{ name: 'count' }] },
    })
  })

  it('run a program in the language of the node, with its modules', async () => {
    const { run_snippet: run } = await externals()
    expect(await run(['from shop import price\nprint(price(11))'])).toMatchObject({ exit_code: 0, output: '22\n' })
    expect(await run(['1 / 0'])).toMatchObject({ exit_code: 1, output: expect.stringContaining('ZeroDivisionError') })
    await expect(run(['#'.repeat(20_001)])).rejects.toThrow('at most 20000 characters')
    const script = await externals(
      { 'src/a.ts': 'export const f = (n: number): number => n + 1\n' },
      { path: 'src/a.ts', text: 'export', name: 'f' },
    )
    const code = "import { f } from './src/a.ts'\nconst n: number = f(1)\nconsole.log(n)"
    expect(await script.run_snippet([code])).toMatchObject({ exit_code: 0, output: '2\n' })
  })
})
