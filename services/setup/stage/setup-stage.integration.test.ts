import { createWriteStream, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { silentLog } from '#platform/log.ts'
import { testSandbox, usualLimits } from '#sandbox/sandbox.fixture.ts'
import { aNewRun, aRequest, type TestLedger, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { runSetupStage, type SetupStageDeps } from './setup-stage.ts'

const { lack, bubblewrap } = await testSandbox(process.env)
const never = new AbortController().signal

describe.skipIf(lack !== undefined)(
  `the setup of a run${lack === undefined ? '' : ` (${lack})`}`,
  { timeout: 60_000 },
  () => {
    let test: TestLedger
    let store: Awaited<ReturnType<typeof testObjects>>
    let dir = ''
    let deps: SetupStageDeps
    beforeAll(async () => {
      test = await testLedger()
      store = await testObjects()
      dir = await mkdtemp(join(tmpdir(), 'remora-stage-'))
      const items = [{ path: 'package.json', content: Buffer.from('{}'), executable: false }]
      await pipeline(Readable.from(plainTar(items)), createWriteStream(join(dir, 'base.tar')))
      const files = [{ path: RepoPath.parse('package.json'), hash: 'h', executable: false, size: 2 }]
      deps = {
        ledger: test.ledger,
        objects: store.objects,
        readSnapshot: async () => ({ id: 's1', files, links: [], bytes: 2, skipped: [], find: () => undefined }),
        archives: { open: async () => openSync(join(dir, 'base.tar'), 'r') },
        isolation: {
          sandbox: {
            runtime: 'auto',
            searchPath: process.env['PATH'] ?? '',
            paths: [],
            ...(bubblewrap !== undefined && { bubblewrap }),
          },
          limits: usualLimits,
          registries: [],
          internalRegistries: [],
          variables: {},
          maxDownloadBytes: 1_000_000,
        },
        toolchain: async () => 'as here',
        log: silentLog,
      }
    })
    afterAll(async () => {
      await test.close()
      await store.close()
      await rm(dir, { recursive: true })
    })

    /** A planned run that waits for its setup. */
    async function waiting(command: string): Promise<RunId> {
      const run = aNewRun({ request: aRequest({ setup: command }) })
      await test.ledger.createRun(run)
      const environment = JSON.stringify({ kind: 'wanted', command })
      const set = { snapshotId: 's1', environment }
      const to = { status: 'running', phase: 'planning' } as const
      await test.ledger.move(run.runId, { from: [{ status: 'queued' }], to, command: 'start', set, events: [] })
      return run.runId
    }
    const eventsOf = async (runId: RunId) =>
      (await test.ledger.readEvents(runId, { after: 0, limit: 50 })).map(({ event }) => event)

    it('is made once for runs with the same manifests, and lets each go on', async () => {
      const command = 'echo made > /environment/made; echo x > added.txt'
      const first = await waiting(command)
      expect(await runSetupStage(first, deps, never)).toBe('ok')
      const made = await test.ledger.getRun(first)
      expect(made).toMatchObject({ phase: 'execution', environment: { kind: 'ready', isCached: false } })
      expect(await eventsOf(first)).toEqual(expect.arrayContaining(['setup.started', 'setup.finished']))
      expect(await runSetupStage(first, deps, never)).toBe('idle')
      const second = await waiting(command)
      expect(await runSetupStage(second, deps, never)).toBe('ok')
      const cached = await test.ledger.getRun(second)
      expect(cached.environment).toMatchObject({ kind: 'ready', isCached: true })
      const keys = [made, cached].map(({ environment }) => environment?.kind === 'ready' && environment.key)
      expect(new Set(keys).size).toBe(1)
      const [key = ''] = keys.filter((one) => typeof one === 'string')
      expect(await store.objects.exists(objectKeys.environment(made.projectId, key))).toBe(true)
    })

    it('that fails lets the run go on with its reason, keeps nothing, and is tried again by the next run', async () => {
      const runId = await waiting('echo broken; exit 5')
      expect(await runSetupStage(runId, deps, never)).toBe('failed')
      const { environment, phase, status, projectId } = await test.ledger.getRun(runId)
      expect([status, phase]).toEqual(['running', 'execution'])
      expect(environment).toMatchObject({ kind: 'failed', reason: 'exit code 5', output: 'broken\n' })
      const before = await Array.fromAsync(store.objects.list(`projects/${projectId}/environments/`))
      const next = await waiting('echo broken; exit 5')
      await runSetupStage(next, deps, never)
      expect((await test.ledger.getRun(next)).environment).toMatchObject({ kind: 'failed' })
      expect(await Array.fromAsync(store.objects.list(`projects/${projectId}/environments/`))).toEqual(before)
    })

    it('that is ended with its process is begun anew', async () => {
      const runId = await waiting('true')
      const ended = new AbortController()
      ended.abort(new Error('the process ends'))
      await expect(runSetupStage(runId, deps, ended.signal)).rejects.toThrow('the process ends')
      expect((await test.ledger.getRun(runId)).environment).toMatchObject({ kind: 'wanted' })
      expect(await runSetupStage(runId, deps, never)).toBe('ok')
    })
  },
)
