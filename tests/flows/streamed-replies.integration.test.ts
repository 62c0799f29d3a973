import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useOneProcess } from '../use-services.ts'

const streaming = { REMORA_MODEL_STREAM: 'true', REMORA_MODEL_RETRY_BUDGET_MS: '3000', REMORA_MODEL_TIMEOUT_MS: '3000' }
const functions = 8
const FailedTries = z.array(z.looseObject({ error_code: z.string() })).default([])

describe('a run whose replies are streamed', () => {
  const services = useOneProcess({ workerEnv: streaming })

  const setFaults = async (settings: object) => {
    const { origin } = services.named('rehearsal')
    const answer = await fetch(`${origin}/faults`, { method: 'POST', body: JSON.stringify(settings) })
    expect(answer.status).toBe(200)
  }
  /** Takes a run to its end: everything succeeded, and no turn of an operation was answered twice. */
  async function wholeRun() {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(functions) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await folder.remove()
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const operations = await services.api.operations(runId)
    expect(operations.filter(({ status: ended }) => ended === 'succeeded')).toHaveLength(functions)
    const answered = events.filter((one) => one.event === 'model.responded' && one['status'] === 'ok')
    const turns = answered.map(({ operation_id: operation, data }) => `${operation} ${String(data['turn'])}`)
    expect(turns).toEqual([...new Set(turns)])
    expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
    return { events, answered }
  }

  it.each([
    ['break off', 'truncated', 'AGENT_008'],
    ['stop without an end', 'stall', 'AGENT_002'],
    ['end with an error', 'error_in_stream', 'AGENT_002'],
  ])('tries again what %s in the middle, within the attempt', async (_what, fault, code) => {
    // As few as one request may meet within its budget.
    await setFaults({ shares: { [fault]: 1 }, times: 2 })
    const { events, answered } = await wholeRun()
    const failed = answered.flatMap(({ data }) => FailedTries.parse(data['failed_tries']))
    expect(failed.filter(({ error_code: one }) => one === code).length).toBeGreaterThanOrEqual(2)
    expect(events.filter(({ event }) => event === 'operation.retried')).toEqual([])
  })
})
