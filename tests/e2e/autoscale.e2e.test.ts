import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { delay } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { openPrograms, type Program } from './program.ts'
import { type Services, startServices, startStores, storeEnv, type Stores } from './services.ts'
import { manyFunctions, sourceFolder } from './source-folder.ts'

const most = 3
/** What a worker with two slots takes at once is 14; less is asked of each here, so that all are needed. */
const perWorker = 10

/**
 * An autoscaler as docs/guide/deploy.md describes it, over real processes: every half second as many workers as `remora_demand` asks
 * for, between none and three, the last one ended first by SIGTERM.
 */
describe('workers that are scaled by remora_demand', () => {
  const programs = openPrograms()
  const open: { stores?: Stores } = {}
  const seen: { most: number; started: number; ended: (number | string)[] } = { most: 0, started: 0, ended: [] }
  const workers: Program[] = []
  const stop = new AbortController()
  let services: Services
  let stores: Stores
  let scaling: Promise<void>

  beforeAll(async () => {
    stores = open.stores = await startStores()
    services = await startServices(programs, stores, { workers: [] })
    const { origin } = services.named('rehearsal')
    await fetch(`${origin}/latency`, { method: 'POST', body: JSON.stringify({ ms: 150 }) })
    scaling = scale()
  })
  afterAll(async () => {
    stop.abort()
    await scaling
    await programs.end()
    await open.stores?.stop()
  })

  async function demand(): Promise<number> {
    const text = await (await fetch(`${services.named('discovery').health}/metrics`)).text()
    return Number(/^remora_demand (\S+)$/m.exec(text)?.[1])
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
      const wanted = Math.min(most, Math.ceil((await demand()) / perWorker))
      while (workers.length < wanted) workers.push(startWorker())
      for (const worker of workers.splice(wanted)) {
        worker.kill('SIGTERM')
        void worker.exited.then((code) => seen.ended.push(code))
      }
      seen.most = Math.max(seen.most, workers.length)
      await delay(500, stop.signal).catch(() => undefined)
    }
  }

  it('come from nothing when a run asks for them, and go when it needs them no more; nothing is lost', async () => {
    expect(await demand()).toBe(0)
    const folder = await sourceFolder({ 'prices.py': manyFunctions(120) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    const { status, events } = await services.api.follow(runId)
    expect(status).toBe('completed')
    expect(seen.most).toBe(most)
    const operations = await services.api.operations(runId)
    expect(operations.filter((one) => one.status !== 'succeeded')).toEqual([])
    await until(() => workers.length === 0 && seen.ended.length === seen.started, { withinMs: 60_000 })
    expect(new Set(seen.ended)).toEqual(new Set([0]))
    // Some were ended while they worked: what they had goes on at another one, with its turns, and counts as no loss.
    const handedBack = events.filter(({ event }) => event === 'operation.retried')
    expect(handedBack.filter(({ data }) => data['reason'] !== 'drain')).toEqual([])
    await folder.remove()
    const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
    expect(await verify.exited, verify.out()).toBe(0)
  })
})
