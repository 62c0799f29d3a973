import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

describe('budgets, over two discoveries and two workers of which one is killed', () => {
  const env = { REMORA_WORKER_SLOTS: '2', REMORA_LEASE_MS: '1000' }
  const services = useServices({ env, workers: ['worker-1', 'worker-2'] })
  beforeAll(() => {
    services.programs.start(['scripts/service.mjs', 'discovery'], {
      env: { ...services.storeEnv, ...env, REMORA_DISCOVERY_HEALTH_PORT: '0' },
    })
  })

  const remora = async (...args: string[]) => {
    const reached = {
      REMORA_API_URL: services.named('api').origin,
      REMORA_TOKEN: services.token,
      REMORA_CONFIG: 'none',
    }
    const program = services.programs.start(['cli/remora.mjs', ...args], { env: reached })
    expect(await program.exited, program.out()).toBe(0)
    return program.out()
  }
  const stateOf = (runId: string) => services.api.run(runId)
  const waits = (runId: string) =>
    until(() => stateOf(runId), { holds: ({ status }) => status === 'waiting', withinMs: 60_000 })
  const submit = async (request: object) => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(60) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'], ...request })
    await folder.remove()
    return runId
  }
  it('hold a run until its budget is raised', async () => {
    const runId = await submit({ budget: { tokens: 2_000 } })
    await until(() => stateOf(runId), { holds: ({ budget }) => budget.used > 0, withinMs: 60_000 })
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
    await until(() => stateOf(runId), { holds: ({ budget }) => budget.used >= more, withinMs: 60_000 })
    await remora('budget', runId, '--unlimited')
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const names = events.map(({ event }) => event).filter((name) => name.startsWith('budget.'))
    expect(names.slice(0, 3)).toEqual(['budget.reached', 'budget.set', 'budget.renewed'])
    await services.verify(runId)
  }, 180_000)
})
