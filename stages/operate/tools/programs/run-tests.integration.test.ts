import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { runIn, testSandbox } from '#sandbox/sandbox.fixture.ts'
import { runTests, type TestRunner } from './run-tests.ts'

const { lack, options } = await testSandbox(process.env)
/** This project's own packages stand for those of a repository. */
const packages = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

async function casesOf(runner: TestRunner, path: string, files: Readonly<Record<string, string>>) {
  const changed = Object.entries(files).map(([name, text]) => {
    return { path: name, content: Buffer.from(text), executable: false }
  })
  const sandbox = openSandbox({ ...options, paths: [packages] })
  const limits = { memoryBytes: 2 * 1024 ** 3, processes: 256 }
  const { cases } = await runTests({ runner, paths: [path], language: '' }, ({ command, ...program }) => {
    const linked = ['sh', '-c', `ln -s ${packages} node_modules; exec "$@"`, 'sh', ...command] as const
    return runIn(sandbox, linked, { ...program, files: { changed }, limits })
  })
  return cases?.map(({ name, outcome }) => `${name} ${outcome}`)
}

describe.skipIf(lack !== undefined)(`tests in the sandbox${lack === undefined ? '' : ` (${lack})`}`, () => {
  it('run with vitest where the repository has it', { timeout: 60_000 }, async () => {
    const tests = `import { describe, expect, test } from 'vitest'\nimport { f } from './a.ts'\ndescribe('f', () => {\n  test('one', () => expect(f(1)).toBe(2))\n  test('two', () => expect(f(1)).toBe(3))\n})\n`
    const files = { 'package.json': '{"type":"module"}', 'a.ts': 'export const f = (n: number) => n + 1\n' }
    expect(await casesOf('vitest', 'a.test.ts', { ...files, 'a.test.ts': tests })).toEqual([
      'a.test.ts::vitest tests::f > one passed',
      'a.test.ts::vitest tests::f > two failed',
    ])
  })

  it('name the parameters of a subtest of unittest, also those with dots', async () => {
    const test =
      'import unittest\nclass A(unittest.TestCase):\n  def test_a(self):\n    for x in (1.5, 2.5):\n      with self.subTest(x=x): self.assertEqual(x, 1.5)\n'
    expect(await casesOf('unittest', 'test_a.py', { 'test_a.py': test })).toContain('test_a.A::test_a (x=2.5) failed')
  })
})
