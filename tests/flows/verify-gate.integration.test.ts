import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { editingAgent } from '../editing-agent.ts'
import { lastDocument } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const { lack, bubblewrap } = await testSandbox(process.env)
const count = 30
const numbers = Array.from({ length: count }, (_, at) => at)
/** Renames a parameter, which breaks whoever passes it by its name: the tests of every tenth function. */
const renaming = editingAgent('renaming', { from: 'value', to: 'amount' })
/** Each function gets the name of the other one's new self, which the linter refuses for both together. */
const toSame = (name: string, from: string) =>
  editingAgent(name, { from: `${from}(`, to: 'same(', evidence: 'parses, lint_before_after' })
/** Two changes to functions that are right only together. */
const halving = editingAgent('halving', { from: '8', to: '4' })
const agents = { ...renaming, ...toSame('left', 'add'), ...toSame('right', 'take'), ...halving }
const functions = numbers.map((n) => `def double${n}(value):\n    return value * 2\n`).join('\n\n')
const tests = numbers.map((n) => {
  const call = n % 10 === 4 ? 'value=3' : '3'
  return `    def test_${n}(self):\n        self.assertEqual(sums.double${n}(${call}), 6)\n`
})
const broken = '    def test_broken(self):\n        self.fail("as before")\n'
const files = {
  'src/sums.py': functions,
  'tests/test_sums.py': `import unittest\n\nimport sums\n\n\nclass Sums(unittest.TestCase):\n${[...tests, broken].join('\n')}`,
}
const Run = z.object({
  result: z.looseObject({
    run_id: z.string(),
    gate: z.looseObject({ verdict: z.string(), tests: z.number(), failing: z.array(z.string()), left_out: z.number() }),
    conflicts: z.array(z.looseObject({ error_code: z.string(), reason: z.string() })),
  }),
})

describe.skipIf(lack !== undefined)(
  `a run whose changes must keep the tests passing${lack === undefined ? '' : ` (${lack})`}`,
  () => {
    const folder = useSourceFolder({
      ...agents,
      ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`repo/${path}`, text])),
    })
    const services = useOneProcess(() => ({
      env: { REMORA_AGENTS_DIR: join(folder.path, 'agents') },
      workerEnv: { REMORA_SANDBOX_BUBBLEWRAP: bubblewrap },
    }))
    const askIn = (place: Pick<SourceFolder, 'path'>, ...args: string[]) =>
      services.remora(place, args, { REMORA_AGENTS_DIR: join(folder.path, 'agents') })
    const ask = (...args: string[]) => askIn(folder, ...args)

    it('leaves out the changes with which a test fails that passed, and names the test', async () => {
      const options = ['--paths', 'src/**', '--verify', 'python3 -m unittest', '--json']
      const ran = await ask('run', 'repo', '--agents', 'renaming', ...options)
      const { result } = Run.parse(lastDocument(ran.out))
      expect(result.gate).toMatchObject({
        verdict: 'passed',
        tests: count,
        failing: ['test_sums.Sums.test_broken'],
        left_out: 3,
      })
      expect(result.conflicts.map(({ error_code }) => error_code)).toEqual(['WORK_007', 'WORK_007', 'WORK_007'])
      expect(result.conflicts.map(({ reason }) => /test_sums\.Sums\.test_\d+/.exec(reason)?.[0])).toEqual(
        [4, 14, 24].map((n) => `test_sums.Sums.test_${n}`),
      )
      expect(ran.code).toBe(3)
      const patch = (await ask('diff', result.run_id)).out
      expect(patch.match(/^\+def double/gm)).toHaveLength(count - 3)
      expect(patch).not.toContain('+def double14(')
      const refused = await ask('accept', result.run_id, '--all')
      expect(refused.err).toMatch(/refused: WORK_007 .*double14.*test_14/)
      // A decision has the patch made anew; it has no culprit either, and nobody can take one.
      const later = await ask('diff', result.run_id)
      expect(later.out.match(/^\+def double/gm)).toHaveLength(count - 3)
      expect(later.err).toContain('WORK_007')
      expect(await ask('accept', result.run_id, 'renaming', 'src/sums.py', 'double14')).toMatchObject({ code: 1 })
      const accepted = await ask('diff', result.run_id, '--of', 'accepted')
      expect(accepted.out).not.toContain('+def double14(')
    })

    it.each([
      ['stays out when it fails, too', 'def test_take(self):\n        self.assertEqual(sums.take(9), 1)\n'],
      ['is tested once somebody accepts it', 'def test_sum(self):\n        pass\n'],
    ])('a change that collided with one that is left out %s', async (what, test) => {
      const pair = await sourceFolder({
        'repo/src/sums.py': 'def add(x):\n    return x + 8\n\n\ndef take(x):\n    return x - 8\n',
        'repo/tests/test_sums.py': `import unittest\n\nimport sums\n\n\nclass Sums(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(sums.add(1), 9)\n\n    ${test}`,
      })
      const inPair = (...args: string[]) => askIn(pair, ...args)
      const options = ['--paths', 'src/**', '--verify', 'python3 -m unittest', '--json']
      const { result } = Run.parse(
        lastDocument((await inPair('run', 'repo', '--agents', 'left,right', ...options)).out),
      )
      expect(result.conflicts.map(({ error_code: code }) => code)).toEqual(['WORK_007', 'WORK_007'])
      expect(new Set(result.conflicts.map(({ reason }) => /test_add|no test has seen it/.exec(reason)?.[0]))).toEqual(
        new Set(['no test has seen it', 'test_add']),
      )
      expect((await inPair('diff', result.run_id)).out).toBe('')
      await inPair('accept', result.run_id, 'right', 'src/sums.py', 'take')
      const shown = [await inPair('diff', result.run_id), await inPair('diff', result.run_id, '--of', 'accepted')]
      const taken = what.startsWith('is tested') ? 1 : 0
      expect(shown.map(({ out }) => out.match(/^\+def same/gm)?.length ?? 0)).toEqual([taken, taken])
      await pair.remove()
    })

    it('tests what was accepted of them once more, since a part may fail that passes as a whole', async () => {
      const pair = await sourceFolder({
        'repo/src/sums.py': 'def add(x):\n    return x + 8\n\n\ndef take(x):\n    return x - 8\n',
        'repo/tests/test_sums.py':
          'import unittest\n\nimport sums\n\n\nclass Sums(unittest.TestCase):\n    def test_both(self):\n        self.assertEqual(sums.take(sums.add(1)), 1)\n',
      })
      const inPair = (...args: string[]) => askIn(pair, ...args)
      const options = ['--paths', 'src/**', '--verify', 'python3 -m unittest', '--json']
      const ran = await inPair('run', 'repo', '--agents', 'halving', ...options)
      const { result } = Run.parse(lastDocument(ran.out))
      expect(result.gate).toMatchObject({ verdict: 'passed', left_out: 0 })
      await inPair('accept', result.run_id, 'halving', 'src/sums.py', 'add')
      const part = await inPair('apply', result.run_id, '--to', 'repo')
      expect(part).toMatchObject({ code: 1, err: expect.stringMatching(/WORK_007.*test_both/) })
      expect(await pair.read('repo/src/sums.py')).toContain('x + 8')
      await inPair('accept', result.run_id, '--all')
      const whole = await inPair('apply', result.run_id, '--to', 'repo')
      expect(whole).toMatchObject({ code: 0, err: expect.stringContaining('1 test') })
      expect(await pair.read('repo/src/sums.py')).toBe(
        'def add(x):\n    return x + 4\n\n\ndef take(x):\n    return x - 4\n',
      )
      await pair.remove()
    })
  },
)
