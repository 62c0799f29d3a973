import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { until } from '#testing/until.ts'
import { descendantsOf, stillRunning } from './living-processes.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, startStores, storeEnv, type Stores } from './services.ts'
import { manyFunctions, sourceFolder, type SourceFolder } from './source-folder.ts'

const { lack, bubblewrap } = await testSandbox(process.env)
const Run = z.looseObject({
  gate: z.looseObject({ verdict: z.string(), tests: z.null(), runs: z.int() }).nullish(),
})

describe.skipIf(lack !== undefined)(
  `a run whose gate is at work${lack === undefined ? '' : ` (${lack})`}`,
  { timeout: 120_000 },
  () => {
    const programs = openPrograms()
    const open: { stores?: Stores; folder?: SourceFolder } = {}
    let services: Services
    let stores: Stores

    beforeAll(async () => {
      stores = open.stores = await startStores()
      const workerEnv = { REMORA_LEASE_MS: '2000', REMORA_SANDBOX_BUBBLEWRAP: bubblewrap }
      services = await startServices(programs, stores, { workers: ['worker-1', 'worker-2'], workerEnv })
      open.folder = await sourceFolder({ 'prices.py': manyFunctions(3) })
    })
    afterAll(async () => {
      await programs.end()
      await open.folder?.remove()
      await open.stores?.stop()
    })

    const read = async (runId: string) => Run.parse(await (await services.api.ask(`/v1/runs/${runId}`)).json())

    /** Submits a run whose gate takes `seconds` each time; answers once its program runs, with the worker that started it. */
    async function runAtGate(seconds: number) {
      const verify = { command: `exec python3 -c "import time; time.sleep(${seconds})"` }
      const archive = (await open.folder?.pack()) ?? new Uint8Array()
      const runId = await services.api.submit(archive, { agents: ['docstring'], verify })
      return until(async () => {
        for (const name of ['worker-1', 'worker-2']) {
          const worker = services.named(name)
          const processes = await descendantsOf(worker.pid)
          const program = processes.filter((one) => one.name === 'python3')
          if (program.length > 0) return { runId, worker, processes, program }
        }
        return undefined
      })
    }

    async function proveAccounts(runId: string): Promise<void> {
      const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
      expect(await verify.exited, verify.out()).toBe(0)
    }

    it('ends when it is cancelled, and so do the programs of the gate', async () => {
      const { runId, program } = await runAtGate(600)
      expect((await services.api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST' })).status).toBe(202)
      expect((await services.api.follow(runId)).status).toBe('cancelled')
      await until(async () => (await stillRunning(program)).length === 0)
      await proveAccounts(runId)
    })

    it('is judged by another worker when the one at it is killed', async () => {
      const { runId, worker, processes } = await runAtGate(4)
      worker.kill('SIGKILL')
      expect((await services.api.follow(runId)).status).toBe('completed')
      expect((await read(runId)).gate).toMatchObject({ verdict: 'passed', tests: null, runs: 3 })
      await until(async () => (await stillRunning(processes)).length === 0)
      await proveAccounts(runId)
    })
  },
)
