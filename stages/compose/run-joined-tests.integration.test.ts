import { createWriteStream, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { testChecks } from '#domain/checks.ts'
import { changeSetId } from '#domain/ids.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { testSandbox, usualLimits } from '#sandbox/sandbox.fixture.ts'
import { openJoinedTests, testChecksOf } from './run-joined-tests.ts'

const { sandbox, lack } = await testSandbox(process.env)
const path = 'tests/test_shop.py'
const shop = 'prices = {}\n\n\ndef price(n):\n    return prices.get(n, n * 3)\n\n\ndef half(n):\n    return n // 2\n'

function setOf(name: string, body: string): ChangeSet {
  const content = `import unittest\n\nfrom shop import ${name}, prices\n\n\nclass ${name}Test(unittest.TestCase):\n    def test_${name}(self):\n${body}`
  const files = [{ kind: 'create' as const, path, content }]
  const common = { path, ok: true, tool: 'unittest', version: '3' }
  const evidence = testChecks.map((check) => {
    return check === 'tests_kill_mutants'
      ? { ...common, check, before: 8, after: 3 }
      : { ...common, check, before: 0, after: 1 }
  })
  return { changeSetId: changeSetId(name, files), operationId: name, bundle: 'test', nodeId: 'n', files, evidence }
}

describe.skipIf(lack !== undefined)(
  `a file of tests that several sets make${lack === undefined ? '' : ` (${lack})`}`,
  () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'remora-joined-'))
      const files = { 'shop.py': shop, 'tests/__init__.py': '' }
      const items = Object.entries(files).map(([name, text]) => ({
        path: name,
        executable: false,
        content: Buffer.from(text),
      }))
      await pipeline(Readable.from(plainTar(items)), createWriteStream(join(folder, 'files.tar')))
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    async function evidenceOf(sets: readonly ChangeSet[]) {
      const [file] = composeChangeSets(sets).files
      if (file === undefined) throw new Error('nothing is composed')
      const programs = {
        sandbox,
        limits: { ...usualLimits, wallMs: 20_000 },
        gateLimitS: 60,
        archive: async () => openSync(join(folder, 'files.tar'), 'r'),
        environment: async () => ({}),
        snapshot: async () => ({ find: () => undefined }),
      }
      const known = new Map(sets.map((set) => [set.changeSetId, set]))
      const readBlob = async () => new Uint8Array()
      const { signal } = new AbortController()
      const run = openJoinedTests(
        { projectId: 'p', snapshotId: 's', environment: null },
        { programs, known, readBlob, signal },
      )
      return run(file, testChecksOf(file))
    }

    const half = setOf('half', '        self.assertEqual(half(4), 2)\n')

    it('passes with the tests of all of them, and says what each has shown alone', async () => {
      const price = setOf('price', '        self.assertEqual(price(1), 3)\n')
      expect(await evidenceOf([half, price])).toMatchObject([
        { check: 'tests_collected', ok: true, after: 2, tool: 'unittest' },
        { check: 'tests_pass', ok: true, after: 2, detail: 'all together, in 2 of 2 runs' },
        { check: 'tests_kill_mutants', ok: true, before: 16, after: 6 },
      ])
    })

    it('fails where the tests of one set disturb those of another', async () => {
      const disturbing = setOf('half', '        prices[1] = 7\n        self.assertEqual(half(4), 2)\n')
      const price = setOf('price', '        self.assertEqual(price(1), 3)\n')
      expect(await evidenceOf([disturbing, price])).toMatchObject([
        { check: 'tests_collected', ok: true },
        { check: 'tests_pass', ok: false, after: 1, detail: expect.stringContaining('AssertionError: 7 != 3') },
        { check: 'tests_kill_mutants', ok: true },
      ])
    })
  },
)
