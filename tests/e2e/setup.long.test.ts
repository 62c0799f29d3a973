import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { type PackageRegistry, startPackageRegistry } from '#testing/package-registry.ts'
import { lastDocument, openPrograms, remora } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'

const { lack } = await testSandbox(process.env)
const files = {
  'repo/pyproject.toml': '[project]\nname = "speech"\nversion = "1.0"\ndependencies = ["shout"]\n',
  'repo/speech.py': 'import shout\n\n\ndef greeting(name):\n    return shout.shout(f"hello {name}")\n',
  'repo/test_speech.py':
    'import unittest\n\nimport speech\n\n\nclass Speech(unittest.TestCase):\n    def test_greeting(self):\n        self.assertEqual(speech.greeting("Ada"), "HELLO ADA!")\n',
}
const Run = z.object({
  result: z.looseObject({
    run_id: z.string(),
    gate: z.looseObject({ verdict: z.string(), tests: z.number().nullable() }),
  }),
})

describe.skipIf(lack !== undefined)(
  `a run with a setup${lack === undefined ? '' : ` (${lack})`}`,
  { timeout: 180_000 },
  () => {
    const programs = openPrograms()
    let registry: PackageRegistry
    let folder: SourceFolder
    const ask = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const settings = {
        REMORA_SETUP_INTERNAL_REGISTRIES: registry.url,
        REMORA_SETUP_VARIABLES: JSON.stringify(registry.variables),
        REMORA_ENVIRONMENTS_DIR: `${folder.path}/environments`,
        REMORA_DATA_DIR: `${folder.path}/data`,
      }
      const command = remora(programs, folder, args, { ...settings, ...env })
      return { code: await command.exited, out: command.out(), err: command.err() }
    }
    const runWith = (setup: string, ...more: string[]) =>
      ask(['run', 'repo', '--agents', 'docstring', '--setup', setup, '--verify', 'python3 -m unittest', ...more])

    beforeAll(async () => {
      registry = await startPackageRegistry()
      folder = await sourceFolder(files)
      await chmod(folder.path, 0o755) // root's programs are started as nobody, who reads the environments in it
    })
    afterAll(async () => {
      await programs.end()
      await registry.close()
      await folder.remove()
    })

    it('tests its changes with what it installed, and the next run finds that', async () => {
      const first = await runWith('pip install shout', '--json')
      expect(Run.parse(lastDocument(first.out)).result, first.out).toMatchObject({
        gate: { verdict: 'passed', tests: 1 },
      })
      expect(first.code).toBe(0)
      const asked = registry.asked.length
      expect(asked).toBeGreaterThan(0)
      const second = await runWith('pip install shout')
      expect(second.out).toMatch(/Set up with pip install shout: [\d.]+ MB, made by an earlier run/)
      expect(second.out).toContain('1 test pass as before')
      expect(registry.asked).toHaveLength(asked)
    })

    it('says what a setup wrote that failed; what needs no program is done, and nothing is called proved', async () => {
      const ran = await runWith('pip install no-such-package', '--json')
      const { result } = Run.parse(lastDocument(ran.out))
      expect(result.gate).toMatchObject({ verdict: 'unproved', reason: expect.stringContaining('SETUP_001') })
      expect(ran.code).toBe(3)
      const shown = await ask(['show', result.run_id])
      expect(shown.out).toMatch(/setup +pip install no-such-package: SETUP_001 it failed/)
    })

    it('is not begun with the folders that a remora.yaml of the sources names', async () => {
      const path = join(folder.path, 'remora.yaml')
      await writeFile(path, 'sandbox: { paths: [/home] }\n')
      const ran = await runWith('pip install shout')
      await rm(path)
      expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/CONFIG_003 .*remora.yaml:1: .*sandbox.paths/)])
    })

    it('is refused where nobody allowed setups', async () => {
      const env = { REMORA_SETUP_COMMAND: 'pip install shout' }
      const ran = await ask(['run', 'repo', '--agents', 'docstring'], env)
      expect(ran.code).not.toBe(0)
      expect(ran.err).toMatch(/SETUP_002 setups are off/)
    })
  },
)
