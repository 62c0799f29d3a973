import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, startStores, storeEnv, type Stores } from './services.ts'
import { manyFunctions, sourceFolder } from './source-folder.ts'

const RunState = z.looseObject({
  status: z.string(),
  counts: z.looseObject({ running: z.int(), ready: z.int(), succeeded: z.int() }),
  budget: z.object({ tokens: z.int().nullable(), used: z.int() }),
  waiting_for: z.array(z.looseObject({ kind: z.string() })),
})

describe('budgets, over two discoveries and two workers of which one is killed', () => {
  const programs = openPrograms()
  const open: { stores?: Stores } = {}
  let stores: Stores
  let services: Services

  beforeAll(async () => {
    stores = open.stores = await startStores()
    const env = { REMORA_WORKER_SLOTS: '2', REMORA_LEASE_MS: '1000' }
    services = await startServices(programs, stores, { env, workers: ['worker-1', 'worker-2'] })
    programs.start(['scripts/service.mjs', 'discovery'], {
      env: { ...storeEnv(stores), ...env, REMORA_DISCOVERY_HEALTH_PORT: '0' },
    })
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
  })

  const remora = async (...args: string[]) => {
    const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token, REMORA_CONFIG: 'none' }
    const program = programs.start(['cli/remora.mjs', ...args], { env })
    expect(await program.exited, program.out()).toBe(0)
    return program.out()
  }
  const stateOf = async (runId: string) => RunState.parse(await (await services.api.ask(`/v1/runs/${runId}`)).json())
  const waits = (runId: string) => until(async () => (await stateOf(runId)).status === 'waiting', { withinMs: 60_000 })
  const submit = async (request: object) => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(60) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'], ...request })
    await folder.remove()
    return runId
  }
  const verified = async (runId: string) => {
    const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
    expect(await verify.exited, verify.out()).toBe(0)
  }

  it('hold a run until its budget is raised', async () => {
    const runId = await submit({ budget: { tokens: 2_000 } })
    await until(async () => (await stateOf(runId)).budget.used > 0, { withinMs: 60_000 })
    services.named('worker-2').kill('SIGKILL')
    await waits(runId)
    const state = await stateOf(runId)
    expect(state).toMatchObject({
      counts: { running: 0 },
      waiting_for: [{ kind: 'budget', of: 'run', limit: 2_000, used: state.budget.used, resets_at: null }],
    })
    expect(state.counts.ready).toBeGreaterThan(0)
    const more = state.budget.used + 1_000
    await remora('budget', runId, '--tokens', String(more))
    await until(async () => (await stateOf(runId)).budget.used >= more, { withinMs: 60_000 })
    await remora('budget', runId, '--unlimited')
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const names = events.map(({ event }) => event).filter((name) => name.startsWith('budget.'))
    expect(names.slice(0, 3)).toEqual(['budget.reached', 'budget.set', 'budget.renewed'])
    await verified(runId)
  }, 180_000)
})
