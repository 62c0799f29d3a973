import { expect, it } from 'vitest'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { descendantsOf, memoryOfTree, threadsOf } from '../living-processes.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const services = useServices({
  workers: ['worker-1', 'worker-2'],
  workerEnv: { REMORA_MODEL_MAX_IN_FLIGHT: '2', REMORA_WORKER_SLOTS: '4' },
  discoveryEnv: { REMORA_MAX_TIMEOUT_S: '3' },
})

/** The number of requests that the model server reports as running, polled far more often than an answer takes, until `isOver`. */
async function requestsRunning(origin: string, isOver: () => boolean): Promise<Set<number>> {
  const seen = new Set<number>()
  while (!isOver()) {
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    seen.add(Number(/vllm:num_requests_running\{[^}]*\} (\d+)/.exec(metrics)?.[1]))
    await delay(10)
  }
  return seen
}

it('two workers keep the limit of a model server together, and fill it', async () => {
  const { origin } = services.named('rehearsal')
  await services.setModel('latency', { ms: 150 })
  const folder = await sourceFolder({ 'prices.py': manyFunctions(12) })
  let isOver = false
  const running = requestsRunning(origin, () => isOver)
  const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
  const { status, events } = await services.api.follow(runId).finally(() => (isOver = true))
  expect(status).toBe('completed')
  const operations = await services.api.operations(runId)
  expect(operations.filter((one) => one.status === 'succeeded')).toHaveLength(12)
  const asked = events.filter(({ event }) => event === 'model.requested')
  expect(new Set(asked.map(({ origin: who }) => who.id))).toEqual(new Set(['worker-1', 'worker-2']))
  expect(Math.max(...(await running))).toBe(2)
  await folder.remove()
})

it('no operation fails for waiting, though all wait longer together than one may work', async () => {
  await services.setModel('latency', { ms: 150 })
  const folder = await sourceFolder({ 'prices.py': manyFunctions(60) })
  const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
  const { status, events } = await services.api.follow(runId)
  expect(status).toBe('completed')
  const operations = await services.api.operations(runId)
  expect(operations.filter((one) => one.status === 'succeeded')).toHaveLength(60)
  const queueMs = events.map(({ data }) => z.object({ queue_ms: z.number().default(0) }).parse(data).queue_ms)
  expect(queueMs.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(3000)
  await folder.remove()
})

it.skipIf(process.platform !== 'linux')('a worker of few slots stays small and starts one script process', async () => {
  const workers = ['worker-1', 'worker-2'].map((name) => services.named(name).pid)
  const processes = await Promise.all(workers.map(descendantsOf))
  // Where there is a sandbox, bwrap and the first process in it stand between.
  const scripts = processes.map((all) => all.filter(({ name }) => name !== 'bwrap' && name !== 'sh').length)
  expect(scripts).toEqual([1, 1])
  // The thread that composed the runs ends well before a minute has passed.
  const composing = async () => (await Promise.all(workers.map(threadsOf))).flat().includes('the composer')
  await until(async () => !(await composing()), { withinMs: 40_000 })
  for (const memory of await Promise.all(workers.map(memoryOfTree))) expect(memory).toBeLessThan(260)
})
