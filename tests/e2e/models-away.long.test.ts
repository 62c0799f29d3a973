import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const limits = {
  REMORA_WORKER_SLOTS: '4',
  REMORA_MODEL_RETRY_BUDGET_MS: '1000',
  REMORA_MODEL_TIMEOUT_MS: '2000',
}

describe('a run whose model servers stop working', () => {
  const services = useServices({ workers: ['worker-1', 'worker-2'], workerEnv: limits })

  const stateOf = (runId: string) => services.api.run(runId)
  const readiness = async (name: string) => (await fetch(`${services.named(name).origin}/readyz`)).status
  const submit = async (functions: number) => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(functions) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await folder.remove()
    return runId
  }

  it.each(['503', 'hang'])(
    'waits while they play %s, and so does a run submitted meanwhile; both go on by themselves and pay no turn twice',
    async (what) => {
      await services.setModel('latency', { ms: 300 })
      const first = await submit(60)
      await until(() => stateOf(first), { holds: ({ counts }) => counts.succeeded > 3, withinMs: 60_000 })
      await services.setModel('faults', { shares: { [what]: 1 } })
      await until(() => stateOf(first), { holds: ({ status }) => status === 'waiting', withinMs: 60_000 })
      const second = await submit(5)
      await until(() => stateOf(second), { holds: ({ status }) => status === 'waiting', withinMs: 60_000 })
      expect(await stateOf(first)).toMatchObject({ counts: { failed: 0, blocked: 0, running: 0 } })
      expect([await readiness('worker-1'), await readiness('api')]).toEqual([503, 200])

      await services.setModel('latency', { ms: 0 })
      await services.setModel('faults', { shares: {} })
      for (const [runId, count] of [
        [first, 60],
        [second, 5],
      ] as const) {
        const { events, status } = await services.api.follow(runId)
        expect(status).toBe('completed')
        const names = events.map(({ event }) => event)
        expect(names.filter((name) => name === 'models.away')).toHaveLength(1)
        expect(names.filter((name) => name === 'models.back')).toHaveLength(1)
        const operations = await services.api.operations(runId)
        expect(operations.filter(({ status: ended }) => ended === 'succeeded')).toHaveLength(count)
        for (const operation of operations) {
          const own = events.filter((one) => one.operation_id === operation.operation_id)
          const replies = own.filter((one) => one.event === 'model.responded' && one.error_code === undefined)
          const turns = replies.map(({ data }) => data['turn'])
          expect(turns).toEqual([...new Set(turns)])
        }
      }
      const retried = (await services.api.follow(first)).events.filter(({ event }) => event === 'operation.retried')
      expect(retried.length).toBeGreaterThan(0)
      expect(new Set(retried.map(({ data }) => data['reason']))).toEqual(new Set(['models']))
      await services.verify(first)
    },
    180_000,
  )

  it('loses nothing to a worker whose own model URL is wrong, which is not ready and takes no work', async () => {
    const lost = services.programs.start(['scripts/service.mjs', 'worker'], {
      env: {
        ...services.storeEnv,
        ...limits,
        REMORA_WORKER_ID: 'worker-lost',
        REMORA_WORKER_HEALTH_PORT: '0',
        REMORA_MODEL_URLS: 'http://127.0.0.1:1/v1',
      },
    })
    await until(() => lost.err(), { holds: (text) => text.includes('takes no operations'), withinMs: 60_000 })
    const runId = await submit(40)
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    expect((await stateOf(runId)).counts).toMatchObject({ failed: 0, succeeded: 40 })
    const started = events.filter(({ event }) => event === 'operation.started').map(({ origin }) => origin.id)
    expect(started).not.toContain('worker-lost')
    lost.kill('SIGTERM')
    await lost.exited
  })
})
