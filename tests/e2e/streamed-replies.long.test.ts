import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { isReady } from '../services.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const streaming = {
  REMORA_MODEL_STREAM: 'true',
  REMORA_WORKER_SLOTS: '4',
  REMORA_MODEL_RETRY_BUDGET_MS: '3000',
  REMORA_MODEL_TIMEOUT_MS: '3000',
  REMORA_DRAIN_MS: '500',
}
const functions = 30

/** The rehearsal model as a process, so that it can die in the middle of a reply. */
describe('a run whose replies are streamed', () => {
  const services = useServices({ workers: ['worker-1', 'worker-2'], workerEnv: streaming })

  const model = () => services.named('rehearsal')
  const running = async () => {
    const metrics = await (await fetch(`${model().origin}/metrics`)).text()
    return Number(/vllm:num_requests_running\{[^}]*\} (\d+)/.exec(metrics)?.[1])
  }
  const submit = async () => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(functions) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await folder.remove()
    return runId
  }

  /** Follows the run to its end: everything succeeded, and no turn of an operation was answered twice. */
  async function wholeRun(runId: string) {
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const operations = await services.api.operations(runId)
    expect(operations.filter(({ status: ended }) => ended === 'succeeded')).toHaveLength(functions)
    const answered = events.filter((one) => one.event === 'model.responded' && one['status'] === 'ok')
    const turns = answered.map(({ operation_id: operation, data }) => `${operation} ${String(data['turn'])}`)
    expect(turns).toEqual([...new Set(turns)])
    await services.verify(runId)
    return events
  }

  it('goes on after its server has died in the middle of replies and is started again', async () => {
    await services.setModel('latency', { ms: 300 }) // most operations are still to come when the first one is done
    const runId = await submit()
    await until(() => services.api.operations(runId), {
      holds: (operations) => operations.some(({ status }) => status === 'succeeded'),
      withinMs: 120_000,
    })
    await services.setModel('faults', { shares: { stall: 1 } })
    await until(running, { holds: (count) => count >= 4, withinMs: 120_000 })
    const { port } = new URL(model().origin)
    model().kill('SIGKILL')
    await model().exited
    const again = services.programs.start(['scripts/service.mjs', 'rehearsal'], {
      env: { REMORA_REHEARSAL_PORT: port },
    })
    await isReady({ ...again, name: 'rehearsal', origin: model().origin })
    const events = await wholeRun(runId)
    const retried = events.filter(({ event }) => event === 'operation.retried')
    expect(retried.filter(({ data }) => data['reason'] !== 'models')).toEqual([])
  }, 300_000)
})
