import { afterEach, describe, expect, it } from 'vitest'
import { announceWorker, withdrawWorker } from '#store/ledger/live-workers.ts'
import { awayModelsCheck } from '#store/ledger/read-runs.ts'
import { until } from '#testing/until.ts'
import { askingRun, submitRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()
afterEach(() => withdrawWorker(api.redis, 'w1', api.namespace))

const since = Date.UTC(2026, 10, 1)
const away = { model: 'default', since, bundles: ['lint'] }
const server = {
  url: 'http://gpu:8000/v1',
  isWorking: false,
  hasAnswered: true,
  lastError: 'answered 503',
  nextProbeAt: since + 3000,
}
const shownServer = {
  url: 'http://gpu:8000/v1',
  has_answered: true,
  last_error: 'answered 503',
  next_probe: '2026-11-01T00:00:03.000Z',
}
const waitsForModel = { kind: 'models', model: 'default', since: '2026-11-01T00:00:00.000Z' }

async function json(path: string): Promise<unknown> {
  const answer = await api.ask(path)
  expect(answer.status).toBe(200)
  return answer.json()
}

describe('a run that waits', () => {
  it('for a model and a person says so, with what each server said and when it is asked next', async () => {
    const runId = await askingRun(api)
    const question = { kind: 'answer', questions: 1 }
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({ waiting_for: [question] })
    await api.ledger.setAway(runId, [away])
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({
      waiting_for: [{ ...waitsForModel, servers: [] }, question],
    })
    const report = { model: 'default', isWorking: false, awaySince: since, servers: [server] }
    await announceWorker(
      api.redis,
      { id: 'w1', operations: 4, models: [report], version: '0.1.0', startedAt: 1_000 },
      api.namespace,
    )
    const waitingFor = [{ ...waitsForModel, servers: [shownServer] }, question]
    await until(() => json(`/v1/runs/${runId}`), { holds: (run) => JSON.stringify(run).includes('answered 503') })
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({ waiting_for: waitingFor })
    expect(await json('/v1/runs?limit=1')).toMatchObject({ runs: [{ waiting_for: waitingFor }] })
  })

  it('for nothing any more once it is cancelled', async () => {
    const runId = await askingRun(api)
    await api.ledger.setAway(runId, [away])
    await api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST' })
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({ cancel_requested: true, waiting_for: [] })
  })
})

describe('GET /readyz', () => {
  it('says to anyone only that runs wait for a model: not how many, for which, nor its servers; and stays ready', async () => {
    for (const runId of [await submitRun(api), await submitRun(api)]) await api.ledger.setAway(runId, [away])
    const shown = await until(
      async () => {
        const answer = await api.askAs('none', '/readyz')
        expect(answer.status).toBe(200)
        return answer.text()
      },
      { holds: (parts) => parts.includes('runs wait') },
    )
    const models = { state: 'away', message: 'no server works of a model that runs wait for' }
    const ok = { state: 'ok', message: 'it answers' }
    expect(JSON.parse(shown)).toEqual({ status: 'ready', parts: { redis: ok, object_store: ok, models } })
  })

  it('counts them where only operators ask', async () => {
    const { message } = await awayModelsCheck(api.ledger)(AbortSignal.timeout(10_000))
    expect(message).toMatch(/^no server of the model "default" works since 2026-11-01T00:00:00.000Z: \d runs wait$/)
  })
})
