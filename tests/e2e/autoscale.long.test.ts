import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { delay } from '#platform/clock.ts'
import { readMetric } from '#testing/metric-value.ts'
import { until } from '#testing/until.ts'
import { openPrograms, type Program } from '../program.ts'
import { type Services, startServices, startStores, storeEnv, type Stores } from '../services.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'

const most = 3
/** What a worker with two slots takes at once is 14; less is asked of each here, so that all are needed. */
const perWorker = 10

/**
 * An autoscaler as docs/guide/deploy.md describes it, over real processes: every half second as many workers as `remora_demand` asks
 * for, between none and as many as the operator allows, the last one ended first by SIGTERM. While the demand is not known, as many
 * as there are.
 */
describe('workers that are scaled by remora_demand', () => {
  const programs = openPrograms()
  const open: { stores?: Stores } = {}
  const seen: { most: number; started: number; ended: (number | string)[] } = { most: 0, started: 0, ended: [] }
  const workers: Program[] = []
  let allowed = most
  const stop = new AbortController()
  let services: Services
  let stores: Stores
  let scaling: Promise<void>

  beforeAll(async () => {
    stores = open.stores = await startStores()
    services = await startServices(programs, stores, { workers: [] })
    scaling = scale()
  })
  afterAll(async () => {
    stop.abort()
    await scaling
    await programs.end()
    await open.stores?.stop()
  })

  const demand = () => readMetric(services.named('discovery').health, 'remora_demand').catch(() => undefined)

  async function answerAfter(ms: number): Promise<void> {
    const { origin } = services.named('rehearsal')
    await fetch(`${origin}/latency`, { method: 'POST', body: JSON.stringify({ ms }) })
  }

  function startWorker(): Program {
    seen.started += 1
    return programs.start(['scripts/service.mjs', 'worker'], {
      env: {
        ...storeEnv(stores),
        REMORA_WORKER_ID: `scaled-${seen.started}`,
        REMORA_WORKER_HEALTH_PORT: '0',
        REMORA_WORKER_SLOTS: '2',
        REMORA_DRAIN_MS: '300',
        REMORA_MODEL_URLS: `${services.named('rehearsal').origin}/v1`,
      },
    })
  }

  async function scale(): Promise<void> {
    while (!stop.signal.aborted) {
      const asked = await demand()
      const wanted = asked === undefined ? workers.length : Math.min(allowed, Math.ceil(asked / perWorker))
      while (workers.length < wanted) workers.push(startWorker())
      for (const worker of workers.splice(wanted)) {
        worker.kill('SIGTERM')
        void worker.exited.then((code) => seen.ended.push(code))
      }
      seen.most = Math.max(seen.most, workers.length)
      await delay(500, stop.signal).catch(() => undefined)
    }
  }

  /** The workers that have begun an operation. */
  async function beginners(runId: string): Promise<Set<string>> {
    const { events } = await services.api.events(runId, 0, 1000)
    return new Set(events.flatMap(({ event, origin }) => (event === 'operation.started' ? [origin.id] : [])))
  }

  it('come from nothing when a run asks for them, and go when it needs them no more; nothing is lost', async () => {
    await until(demand, { holds: (count) => count === 0 })
    await answerAfter(4000) // an operation asks once, and a worker that is ended has 0.3 s
    const folder = await sourceFolder({ 'prices.py': manyFunctions(120) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await until(() => beginners(runId), { holds: (ids) => ids.has(`scaled-${most}`), withinMs: 60_000 })
    allowed = 1
    await until(() => workers, { holds: ({ length }) => length === 1 })
    await answerAfter(150)
    allowed = most
    const { status, events } = await services.api.follow(runId)
    expect(status).toBe('completed')
    expect(seen.most).toBe(most)
    const operations = await services.api.operations(runId)
    expect(operations.filter((one) => one.status !== 'succeeded')).toEqual([])
    await until(() => ({ ...seen, workers }), {
      holds: ({ ended, started, workers: left }) => left.length === 0 && ended.length === started,
      withinMs: 60_000,
    })
    // A worker that gets SIGTERM while Node loads it has begun nothing, and ends by that signal.
    expect(seen.ended.filter((code) => code !== 0 && code !== 'SIGTERM')).toEqual([])
    expect(seen.ended.filter((code) => code === 0).length).toBeGreaterThanOrEqual((await beginners(runId)).size)
    // Two were ended while they worked: what they had goes on at another one, with its turns, and counts as no loss.
    const handedBack = events.filter(({ event }) => event === 'operation.retried')
    expect(handedBack.length).toBeGreaterThan(0)
    expect(handedBack.filter(({ data }) => data['reason'] !== 'drain')).toEqual([])
    await folder.remove()
    const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
    expect(await verify.exited, verify.out()).toBe(0)
  })
})
