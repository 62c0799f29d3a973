import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testChecks } from '#domain/checks.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import type { SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import { type BenchFiles, openTestsBench, usualWallMs } from './tests-bench.fixture.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)

const price = 'def price(count):\n    if count > 10:\n        return count * 2\n    return count * 3\n'
const pythonFiles: BenchFiles = { 'shop.py': `${price}\ndef other():\n    return 1\n` }
const inClass = (body: string) =>
  `import random\nimport time\nimport unittest\n\nfrom shop import price\n\n\nclass PriceTest(unittest.TestCase):\n${body}`
const sound = inClass(
  '    def test_few(self):\n        self.assertEqual(price(10), 30)\n\n    def test_many(self):\n        self.assertEqual(price(11), 22)\n',
)

describe.skipIf(lack !== undefined)(`the proof of tests${lack === undefined ? '' : ` (${lack})`}`, () => {
  let programs: SandboxedProgram['command'][]
  let bench: ReturnType<typeof openTestsBench>
  /** This bounds each run of a planted fault: one that hangs uses all the time that it has. */
  let mostMs = Number.POSITIVE_INFINITY
  beforeAll(() => {
    programs = []
    const counting = {
      run(program: SandboxedProgram, signal: AbortSignal) {
        programs.push(program.command)
        const { limits } = program
        const wallMs = limits.wallMs < usualWallMs ? Math.min(limits.wallMs, mostMs) : limits.wallMs
        return sandbox.run({ ...program, limits: { ...limits, wallMs } }, signal)
      },
    }
    bench = openTestsBench(counting)
  })
  afterAll(() => bench.close())

  async function evidenceFor(tests: string, files = pythonFiles, path = 'tests/test_shop_price.py') {
    const attempt = await bench.attempt(files, { path: 'shop.py', text: 'def price', name: 'price' })
    await attempt.workspace.writeText(path, tests)
    programs.length = 0
    const evidence = await attempt.tests.evidence([path], testChecks, never)
    return { ...attempt, evidence, path }
  }

  it('counts them, runs them as often as asked, and plants faults that they notice', async () => {
    const { evidence, tests, path, workspace } = await evidenceFor(sound)
    expect(evidence).toMatchObject([
      { check: 'tests_collected', path, ok: true, tool: 'unittest', before: 0, after: 2 },
      { check: 'tests_pass', ok: true, before: 0, after: 2, detail: 'each in 3 of 3 runs' },
      { check: 'tests_kill_mutants', ok: true, before: 8, after: 8 },
    ])
    for (const { version, durationMs } of evidence) {
      expect(version).toMatch(/^3\.\d+\.\d+/)
      expect(durationMs).toBeGreaterThan(0)
    }
    expect(programs).toHaveLength(1 + 3 + 8)
    await tests.evidence([path], testChecks, never)
    expect(programs).toHaveLength(1 + 3 + 8) // as long as nothing is written
    await workspace.writeText('unrelated.py', '')
    await tests.evidence([path], testChecks, never)
    expect(programs.length).toBeGreaterThan(12)
  })

  it.each([
    ['locale', 'import locale\n        self.assertEqual(locale.setlocale(locale.LC_ALL, ""), "C.UTF-8")'],
    ['time zone', 'self.assertEqual(time.localtime(0).tm_hour, 0)'],
    ['order of tests', 'PriceTest.seen = True'],
  ])('fails for tests that pass only under the %s of this machine', async (_what, body) => {
    const other = body.includes('seen') ? 'PriceTest.seen' : 'price(1)'
    const next = `\n    def test_next(self):\n        self.assertTrue(${other})\n`
    const [, passing] = (await evidenceFor(inClass(`    def test_it(self):\n        ${body}\n${next}`))).evidence
    expect(passing).toMatchObject({ check: 'tests_pass', ok: false, after: 1 })
    expect(passing?.detail).toContain('2 of 3 runs (not under another locale, time zone, hash seed and order)')
  })

  it.each([
    ['locale', "(1.5).toLocaleString() === '1.5'"],
    ['time zone', 'new Date(0).getHours() === 0'],
  ])('fails for a test in JavaScript that passes only under the %s of this machine', async (_what, condition) => {
    const files = { 'a.mjs': 'export const f = (x) => x * 2\n' }
    const attempt = await bench.attempt(files, { path: 'a.mjs', text: 'export', name: 'f' })
    const text = `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { f } from './a.mjs'\n\ntest('it', () => assert(f(2) === 4 && ${condition}))\n`
    await attempt.workspace.writeText('a.test.mjs', text)
    const [passing] = await attempt.tests.evidence(['a.test.mjs'], ['tests_pass'], never)
    expect(passing).toMatchObject({ ok: false, after: 0 })
    expect(passing?.detail).toContain('2 of 3 runs (not under another locale')
  })

  it('says which faults no test has noticed', async () => {
    const { evidence } = await evidenceFor(inClass('    def test_it(self):\n        self.assertEqual(price(1), 3)\n'))
    const [killing] = evidence.filter(({ check }) => check === 'tests_kill_mutants')
    expect(killing).toMatchObject({ ok: true, before: 8 })
    expect(killing?.after).toBeLessThan(8)
    expect(killing?.detail).toContain('not noticed: line 2: `10` became `11`')
  })

  it('fails for tests that assert nothing', async () => {
    const { evidence } = await evidenceFor(inClass('    def test_it(self):\n        price(1)\n'))
    expect(evidence).toMatchObject([{ ok: true }, { ok: true }, { check: 'tests_kill_mutants', ok: false, after: 0 }])
  })

  it.each([
    ['a text that does not parse', 'def test_(:\n', /SyntaxError/],
    ['no test at all', 'x = 1\n', /there is no test/],
    ['tests that end the process', 'import os\nos._exit(0)\n', /exit code 0/],
  ])('fails for %s', async (_, text, words) => {
    const { evidence } = await evidenceFor(text)
    const [, passing, killing] = evidence
    expect([passing?.ok, killing?.ok]).toEqual([false, false])
    expect(passing?.detail).toMatch(words)
  })

  it('counts a fault with which the tests hang as noticed', { timeout: 60_000 }, async () => {
    const loop = 'def price(n):\n    while n > 0:\n        n -= 1\n    return n\n'
    const test = inClass('    def test_it(self):\n        self.assertEqual(price(0), 0)\n')
    mostMs = 3_000
    const { evidence } = await evidenceFor(test, { 'shop.py': loop }).finally(() => (mostMs = Number.POSITIVE_INFINITY))
    expect(evidence[2]).toMatchObject({ ok: true })
    // The faults that hang run a second time, and the others do not.
    const faults = evidence[2]?.before ?? 0
    expect(programs.length).toBeGreaterThan(1 + 3 + faults)
    expect(programs.length).toBeLessThan(1 + 3 + 2 * faults)
  })

  it('does not count a fault with which the run ends without a report', async () => {
    const exits = 'import os\n\n\ndef price(n):\n    if n == 1:\n        os._exit(7)\n    return n * 2\n'
    const files = { 'shop.py': exits }
    const { evidence } = await evidenceFor(inClass('    def test_it(self):\n        price(2)\n'), files)
    const killing = evidence[2]
    expect(killing).toMatchObject({ ok: false, after: 0 })
    expect(killing?.detail).toMatch(/not judged: line 5: .*\(exit code 7\)/)
    const asserting = inClass('    def test_it(self):\n        self.assertEqual(price(2), 4)\n')
    const noticing = (await evidenceFor(asserting, files)).evidence[2]
    expect(noticing).toMatchObject({ ok: true })
    expect(noticing?.before).toBe(killing?.before)
  })

  it('misses each test that was there by its name, whatever was added in its place', async () => {
    const files = { ...pythonFiles, 'tests/test_shop_price.py': sound }
    const weaker = `${sound.replace(/ {4}def test_many[^]*/, '')}    def test_x(self):\n        price(1)\n`
    const { evidence } = await evidenceFor(weaker, files)
    const name = 'test_shop_price.PriceTest::test_many'
    expect(evidence).toMatchObject([
      { check: 'tests_collected', ok: false, before: 2, after: 2, detail: `no longer there: ${name}` },
      { check: 'tests_pass', ok: false, before: 2, after: 2, detail: expect.stringContaining(name) },
      {},
    ])
  })

  it('misses the tests of a file that was deleted', async () => {
    const path = 'tests/test_shop_price.py'
    const files = { ...pythonFiles, [path]: sound }
    const attempt = await bench.attempt(files, { path: 'shop.py', text: 'def price', name: 'price' })
    await attempt.workspace.deleteFile(path)
    const evidence = await attempt.tests.evidence([path], testChecks, never)
    expect(evidence.map(({ ok }) => ok)).toEqual([false, false, false])
    expect(evidence[0]).toMatchObject({ before: 2, after: 0 })
  })

  it('does not miss what a runner reported in place of tests', async () => {
    const path = 'tests/test_shop_price.py'
    const broken = await evidenceFor(sound, { ...pythonFiles, [path]: `import nowhere\n${sound}` })
    expect(broken.evidence).toMatchObject([{ ok: true, before: 0, after: 2 }, { ok: true, before: 0, after: 2 }, {}])
    const script = 'src/shop.test.js'
    const test = `import { equal } from 'node:assert/strict'\nimport { test } from 'node:test'\n\ntest('it', () => equal(1, 1))\n`
    const noFaults = { 'shop.py': 'def price(n):\n    pass\n' }
    const emptied = await evidenceFor('1\n', { ...noFaults, [script]: test }, script)
    expect(emptied.evidence).toMatchObject([{ ok: false, before: 1, after: 0 }, { ok: false }, {}])
    const filled = await evidenceFor(test, { ...noFaults, [script]: '1\n' }, script)
    expect(filled.evidence).toMatchObject([{ ok: true, before: 0, after: 1 }, { ok: true, after: 1 }, {}])
  })

  it('is none where nothing with tests was changed, and nothing runs', async () => {
    const { evidence } = await evidenceFor('x = 1\n', pythonFiles, 'helper.py')
    expect(evidence.map(({ check, of }) => [check, of])).toEqual(testChecks.map((of) => ['not_checked', of]))
    expect(programs).toEqual([])
  })

  it('says so of code in which no fault can be planted', async () => {
    const test = inClass('    def test_it(self):\n        self.assertIsNone(price(1))\n')
    const { evidence } = await evidenceFor(test, { 'shop.py': 'def price(n):\n    pass\n' })
    expect(evidence[2]).toMatchObject({ check: 'not_checked', of: 'tests_kill_mutants' })
  })

  it('is made of TypeScript with the runner of Node', async () => {
    const files = { 'src/shop.ts': 'export function price(count: number): number {\n  return count > 10 ? 1 : 2\n}\n' }
    const attempt = await bench.attempt(files, { path: 'src/shop.ts', text: 'function price', name: 'price' })
    const path = 'src/shop-price.test.ts'
    const test = `import { equal } from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { price } from './shop.ts'\n\ntest('few', () => equal(price(10), 2))\ntest('many', () => equal(price(11), 1))\n`
    await attempt.workspace.writeText(path, test)
    const evidence = await attempt.tests.evidence([path], testChecks, never)
    expect(evidence).toMatchObject([
      { tool: 'node:test', version: process.version.slice(1), after: 2 },
      { ok: true, after: 2 },
      { ok: true, before: 6, after: 6 },
    ])
  })

  it('is not made where the repository needs a runner that is not there', async () => {
    const files = {
      'package.json': '{"devDependencies":{"vitest":"4"}}',
      'a.js': 'export const f = () => 1\n',
      'b/package.json': '{"scripts":{"test":"jest --ci"}}',
      'b/a.js': 'export const f = () => 1\n',
    }
    const vitest = await bench.attempt(files, { path: 'a.js', text: 'export' })
    await expect(vitest.tests.runner('javascript', never)).rejects.toMatchObject({ code: 'TOOL_005' })
    const jest = await bench.attempt(files, { path: 'b/a.js', text: 'export' })
    await expect(jest.tests.runner('javascript', never)).rejects.toThrow('run with jest, which Remora cannot run')
  })

  it('asks the Node of the sandbox for its version, and is not made where it does not work', async () => {
    const nodeIn = (folder: string) =>
      openTestsBench({
        run: (program, signal) =>
          sandbox.run({ ...program, environment: { PATH: `/workspace/${folder}:/usr/bin:/bin` } }, signal),
      })
    const own = nodeIn('bin')
    const fake = { 'bin/node': '#!/bin/sh\necho v99.1.2\n', 'broken/node': '#!/bin/sh\nexit 1\n' }
    const files = { ...fake, 'a.js': 'export const f = () => 1\n' }
    const attempt = await own.attempt(files, { path: 'a.js', text: 'export' })
    expect(await attempt.tests.runner('javascript', never)).toMatchObject({ tool: 'node:test', version: '99.1.2' })
    await own.close()
    const broken = nodeIn('broken')
    const lacking = await broken.attempt(files, { path: 'a.js', text: 'export' })
    await expect(lacking.tests.runner('javascript', never)).rejects.toThrow('the sandbox has no node that works')
    await broken.close()
  })

  it('is not made, and nothing proved, without a sandbox', async () => {
    const lacking = openTestsBench(openSandbox({ searchPath: '' }))
    const attempt = await lacking.attempt(pythonFiles, { path: 'shop.py', text: 'def price' })
    await attempt.workspace.writeText('test_shop.py', sound)
    await expect(attempt.tests.evidence(['test_shop.py'], testChecks, never)).rejects.toMatchObject({
      code: 'TOOL_005',
    })
    await lacking.close()
  })
})
