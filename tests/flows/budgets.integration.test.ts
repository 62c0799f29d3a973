import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readMetric } from '#testing/metric-value.ts'
import { until } from '#testing/until.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useOneProcess } from '../use-services.ts'

describe('budgets', () => {
  const services = useOneProcess({ env: { REMORA_WORKER_SLOTS: '2' }, workers: ['worker-1', 'worker-2'] })

  const remora = async (...args: string[]) => {
    const answer = await services.remora({ path: tmpdir() }, args, { REMORA_CONFIG: 'none' })
    expect(answer).toMatchObject({ code: 0 })
    return answer.out
  }
  const stateOf = (runId: string) => services.api.run(runId)
  const waits = (runId: string) =>
    until(() => stateOf(runId), { holds: ({ status }) => status === 'waiting', withinMs: 60_000 })
  const submit = async (request: object) => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(30) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'], ...request })
    await folder.remove()
    return runId
  }
  const verified = async (runId: string) => {
    expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
  }

  it('hold a run until its budget is raised, and no worker is asked for meanwhile', async () => {
    const runId = await submit({ budget: { tokens: 2_000 } })
    await waits(runId)
    const state = await stateOf(runId)
    const [wait] = state.waiting_for
    const needs = wait?.kind === 'budget' ? (wait.needs ?? 0) : 0
    expect(needs).toBeGreaterThan(2_000) // no request was sent that may use more than there is
    expect(state).toMatchObject({
      counts: { running: 0 },
      waiting_for: [{ kind: 'budget', of: 'run', limit: 2_000, used: 0, resets_at: null }],
    })
    expect(state.counts.ready).toBeGreaterThan(0)
    expect(await remora('show', runId)).toContain(`"remora budget ${runId} --tokens N" lets it go on`)
    const { health } = services.named('discovery')
    expect(await readMetric(health, 'remora_demand')).toBe(0)
    expect(await readMetric(health, 'remora_waiting{reason="budget"}')).toBe(state.counts.ready)
    expect(await remora('budget', runId, '--tokens', '2001')).toMatch(/: 0 of 2,001 tokens used/)
    const more = 2 * needs
    expect(await remora('budget', runId, '--tokens', String(more))).toMatch(/ of [\d,]+ tokens used/)
    const again = ({ status, budget }: Awaited<ReturnType<typeof stateOf>>) => status === 'waiting' && budget.used > 0
    const { budget } = await until(() => stateOf(runId), { holds: again, withinMs: 60_000 })
    expect(budget.used).toBeLessThanOrEqual(more)
    await remora('budget', runId, '--unlimited')
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const names = events.map(({ event }) => event).filter((name) => name.startsWith('budget.'))
    expect(names.slice(0, 4)).toEqual(['budget.reached', 'budget.set', 'budget.set', 'budget.renewed'])
    await verified(runId)
  })

  it('hold the runs of a project for the rest of its day, until that is raised', async () => {
    await remora('project', 'budget', 'default', '--tokens-per-day', '1k')
    const runs = [await submit({}), await submit({})]
    for (const runId of runs) await waits(runId)
    for (const runId of runs) {
      expect((await stateOf(runId)).waiting_for).toMatchObject([{ kind: 'budget', of: 'project', limit: 1_000 }])
    }
    expect(await remora('project', 'budget', 'default')).toMatch(
      /^default: [\d,]+ of 1,000 tokens used today; the day ends /,
    )
    await remora('project', 'budget', 'default', '--unlimited')
    for (const runId of runs) {
      expect((await services.api.follow(runId)).status).toBe('completed')
      await verified(runId)
    }
  })
})
