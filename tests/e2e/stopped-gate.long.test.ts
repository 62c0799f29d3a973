import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { until } from '#testing/until.ts'
import { descendantsOf, stillRunning } from '../living-processes.ts'
import { manyFunctions, sourceFolder, type SourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const { lack, bubblewrap } = await testSandbox(process.env)
const Run = z.looseObject({
  gate: z.looseObject({ verdict: z.string(), tests: z.null(), runs: z.int() }).nullish(),
})

describe.skipIf(lack !== undefined)(
  `a run whose gate is at work${lack === undefined ? '' : ` (${lack})`}`,
  { timeout: 120_000 },
  () => {
    const services = useServices({
      workers: ['worker-1', 'worker-2'],
      workerEnv: { REMORA_LEASE_MS: '2000', REMORA_SANDBOX_BUBBLEWRAP: bubblewrap },
    })
    let folder: SourceFolder
    beforeAll(async () => {
      folder = await sourceFolder({ 'prices.py': manyFunctions(3) })
    })
    afterAll(() => folder.remove())

    const read = async (runId: string) => Run.parse(await (await services.api.ask(`/v1/runs/${runId}`)).json())

    /** Submits a run whose gate takes `seconds` each time; answers once its program runs, with the worker that started it. */
    async function runAtGate(seconds: number) {
      const verify = { command: `exec python3 -c "import time; time.sleep(${seconds})"` }
      const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'], verify })
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

    it('ends when it is cancelled, and so do the programs of the gate', async () => {
      const { runId, program } = await runAtGate(600)
      expect((await services.api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST' })).status).toBe(202)
      expect((await services.api.follow(runId)).status).toBe('cancelled')
      await until(() => stillRunning(program), { holds: ({ length }) => length === 0 })
      await services.verify(runId)
    })

    it('is judged by another worker when the one at it is killed', async () => {
      const { runId, worker, processes } = await runAtGate(4)
      worker.kill('SIGKILL')
      expect((await services.api.follow(runId)).status).toBe('completed')
      expect((await read(runId)).gate).toMatchObject({ verdict: 'passed', tests: null, runs: 3 })
      await until(() => stillRunning(processes), { holds: ({ length }) => length === 0 })
      await services.verify(runId)
    })
  },
)
