import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { manyFunctions, sourceFolder, undocumented } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const Retried = z.object({ generation: z.int() })

describe.skipIf(lacks('git'))('a run that is cancelled while a model is asked', () => {
  const services = useServices({
    workers: ['worker-1', 'worker-2'],
    // A heartbeat is sent after a third of the lease: the signal ends the attempts below, not a heartbeat.
    workerEnv: { REMORA_LEASE_MS: '3600000', REMORA_WORKER_SLOTS: '4' },
  })

  const answerAfter = (ms: number) => services.setModel('latency', { ms })
  const post = async (path: string): Promise<unknown> => {
    const answer = await services.api.ask(`/v1/runs/${path}`, { method: 'POST' })
    expect(answer.status).toBe(202)
    return answer.json()
  }

  it('aborts the requests on every worker, ends, and can be tried again to the whole patch', async () => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(60) })
    await answerAfter(300) // so that most of the run is still to come when the first operation is seen to have ended
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await until(() => services.api.operations(runId), {
      holds: (operations) => operations.some(({ status }) => status === 'succeeded'),
    })
    await answerAfter(600_000)
    const asking = async () => {
      const { events } = await services.api.events(runId, 0, 1000)
      const asked = events.filter(({ event }) => event === 'model.requested')
      const answered = events.filter(({ event }) => event === 'model.responded')
      return asked.length - answered.length
    }
    await until(asking, { holds: (count) => count >= 8, withinMs: 60_000 })

    await post(`${runId}/cancel`)
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('cancelled')
    expect(events.at(-1)).toMatchObject({ event: 'run.cancelled' })
    const operations = await services.api.operations(runId)
    const statuses = new Set(operations.map((one) => one.status))
    expect([...statuses].toSorted()).toEqual(expect.arrayContaining(['cancelled', 'succeeded']))
    const cancelled = operations.filter((one) => one.status === 'cancelled')
    expect(new Set(cancelled.map(({ outcome }) => outcome?.error_code))).toEqual(new Set(['AGENT_010']))

    await answerAfter(0)
    const { generation } = Retried.parse(await post(`${runId}/retry`))
    expect(generation).toBe(2)
    const retried = await services.api.follow(runId)
    expect(retried.status).toBe('completed')
    const redone = (await services.api.operations(runId)).filter((one) => one.generation === generation)
    const succeeded = operations.filter((one) => one.status === 'succeeded')
    expect(redone).toHaveLength(operations.filter((one) => !['succeeded', 'unchanged'].includes(one.status)).length)
    const composed = retried.events.find(({ event }) => event === 'run.composed')
    const changed = redone.filter((one) => one.status === 'succeeded')
    expect(composed?.data).toMatchObject({ change_sets: succeeded.length + changed.length })
    const patch = await services.api.ask(`/v1/runs/${runId}/patch`)
    await folder.apply(await patch.text())
    expect(await folder.read('prices.py')).not.toMatch(undocumented) // the patch has what succeeded before the cancel, too
    await folder.remove()
    await services.verify(runId)
  })
})
