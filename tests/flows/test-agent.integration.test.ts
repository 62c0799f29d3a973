import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { lastDocument } from '../program.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const exec = promisify(execFile)
const { lack, bubblewrap } = await testSandbox(process.env)
const files = {
  'repo/shop.py': `def price(count):
    if count > 10:
        return count * 2
    return count * 3


def total(count):
    return price(count) + 4


def half(count):
    return count // 2
`,
  'repo/tests/__init__.py': '',
  'repo/tests/test_other.py':
    'import unittest\n\n\nclass Other(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\n',
  'repo/package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'repo/label.js': 'export function label(count) {\n  return count > 1 ? count + 1 : count\n}\n',
}
const Run = z.object({ result: z.looseObject({ run_id: z.string() }) })
const Proof = z.looseObject({ check: z.string(), path: z.string(), ok: z.boolean(), after: z.number().optional() })
const Change = z.object({ change_set_id: z.string(), qualified_name: z.string(), evidence: z.array(Proof) })
const Reviewed = z.object({ changes: z.array(Change) })

describe.skipIf(lack !== undefined)(`the agent that writes tests${lack === undefined ? '' : ` (${lack})`}`, () => {
  const folder = useSourceFolder(files)
  const services = useOneProcess({ workerEnv: { REMORA_SANDBOX_BUBBLEWRAP: bubblewrap } })
  const ask = (...args: string[]) => services.remora(folder, args)

  it('proposes one file of tests for a module, in the style of the repository, and what is accepted of it passes outside, too', async () => {
    const options = ['--agents', 'test', '--accept', 'auto', '--verify', 'python3 -m unittest', '--json']
    const ran = await ask('run', 'repo', ...options)
    expect(ran).toMatchObject({ code: 0 })
    const { result } = Run.parse(lastDocument(ran.out))
    const reviewed = await ask('review', result.run_id, '--where', 'verdict=accepted', '--json')
    const { changes } = Reviewed.parse(lastDocument(reviewed.out))
    const killing = changes.flatMap(({ evidence }) => evidence.filter(({ check }) => check === 'tests_kill_mutants'))
    expect(killing.map(({ path, ok }) => `${path} ${ok}`).toSorted()).toEqual([
      'label.test.js true',
      'tests/test_shop.py true',
      'tests/test_shop.py true',
      'tests/test_shop.py true',
    ])
    for (const { after } of killing) expect(after).toBeGreaterThan(0)
    const id = changes.find((change) => change.qualified_name === 'total')?.change_set_id ?? ''
    expect(await ask('reject', result.run_id, id)).toMatchObject({ code: 0 })
    expect(await ask('apply', result.run_id, '--to', 'repo')).toMatchObject({ code: 0 })
    const cwd = join(folder.path, 'repo')
    const python = await exec('python3', ['-m', 'unittest', '-v'], { cwd })
    expect(python.stderr).toContain('test_price_3')
    expect(python.stderr).toContain('HalfTest')
    expect(python.stderr).not.toContain('TotalTest')
    expect(await services.verify(result.run_id)).toMatchObject({ code: 0 })
    const node = await exec('node', ['--test', '--test-reporter=tap'], { cwd, env: { PATH: process.env['PATH'] } })
    expect(node.stdout).toContain('label(3) is 4')
  })
})
