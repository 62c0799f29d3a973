import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { openRetention, type Retention } from '#store/ledger/retention.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'
import { runForm, tarOf, type TestApi } from '../../app.fixture.ts'
import { composeRun, playRun, submitRun } from '../../played-run.fixture.ts'

let retention: Retention
const api = useTestApi()
beforeAll(() => {
  retention = openRetention(api.redis, api.namespace)
})

const erase = (runId: string) => api.ask(`/v1/runs/${runId}`, { method: 'DELETE' })
const answered = async (answer: Response) => ({
  status: answer.status,
  ...z.looseObject({}).parse(await answer.json()),
})

async function endedRun(): Promise<RunId> {
  const runId = await playRun(api, [{ name: 'one', fails: { code: 'AGENT_004', reason: 'turn limit' } }])
  await composeRun(api, runId, { files: [] })
  return runId
}

/** As housekeeping does. */
async function finish(runId: RunId): Promise<void> {
  const run = { runId, projectId: api.project }
  await api.objects.delete(objectKeys.upload(api.project, runId))
  await retention.forgetRun(run)
  await retention.endDeletion(run)
}

describe('DELETE /v1/runs/{run_id}', () => {
  it('makes the run unknown at once, and answers 202 again until nothing of it is left', async () => {
    const runId = await endedRun()
    const [first, second] = await Promise.all([erase(runId), erase(runId)])
    const deleting = { status: 202, run_id: runId, deleting: true }
    expect([await answered(first), await answered(second)]).toEqual([deleting, deleting])
    const unknown = { status: 404, error_code: 'RUN_001' }
    for (const path of ['', '/events', '/timeline', '/operations', '/patch', '/questions']) {
      expect(await answered(await api.ask(`/v1/runs/${runId}${path}`))).toMatchObject(unknown)
    }
    expect(await (await api.ask('/v1/runs?limit=100')).text()).not.toContain(runId)
    expect(await answered(await api.ask(`/v1/runs/${runId}/retry`, { method: 'POST' }))).toMatchObject(unknown)
    expect(await answered(await api.askAs('other', `/v1/runs/${runId}`, { method: 'DELETE' }))).toMatchObject(unknown)
    expect(await answered(await erase(runId))).toEqual(deleting)
    await finish(runId)
    expect(await answered(await erase(runId))).toMatchObject(unknown)
  })

  it('refuses a run that has not ended, and leaves it as it is', async () => {
    const queued = await submitRun(api)
    expect(await answered(await erase(queued))).toMatchObject({ status: 409, error_code: 'RUN_006' })
    expect((await api.ledger.getRun(queued)).status).toBe('queued')
    expect(await retention.runsBeingDeleted()).toEqual([])
  })
})

describe('an idempotency key whose run was deleted', () => {
  // Packed once: an archive names the second it was made in.
  const archive = tarOf({ 'a.py': 'x = 1\n' })
  const submit = async () =>
    api.ask('/v1/runs', {
      method: 'POST',
      body: runForm(await archive),
      headers: { 'idempotency-key': 'of-a-deleted-run' },
    })
  const refused = { status: 422, error_code: 'INTAKE_005', detail: expect.stringContaining('deleted') }

  it('does not make the run again', async () => {
    const { run_id: runId } = z.looseObject({ run_id: z.string() }).parse(await (await submit()).json())
    const end = { from: [{ status: 'queued' }], to: { status: 'failed' }, command: 'end', events: [] } as const
    await api.ledger.move(runId, end)
    await erase(runId)
    expect(await answered(await submit())).toMatchObject(refused)
    await finish(runId)
    expect(await answered(await submit())).toMatchObject(refused)
    await expect(api.ledger.getRun(runId)).rejects.toMatchObject({ code: 'RUN_001' })
  })
})

it('the lists that a run refers to are there, though those of a deleted run went just before it referred to them', async () => {
  const { createRun } = api.ledger
  let keys: string[] = []
  const deleting: TestApi['intake']['ledger'] = {
    ...api.ledger,
    async createRun(run) {
      const { nodes, notSent } = run.request
      keys = [nodes, notSent].map((list) => objectKeys.blob(api.project, list?.hash ?? ''))
      await retention.inWindow(async ({ beginEpoch }) => {
        await beginEpoch()
        for (const key of keys) await api.objects.delete(key)
      })
      await createRun(run)
    },
  }
  Object.assign(api.intake, { ledger: deleting })
  const lists = { nodes: ['n0123456789abcdef'], not_sent: [{ path: '.env', reason: 'a secret by its name' }] }
  const body = runForm(await tarOf({ 'a.py': 'x = 1\n' }), { agents: ['lint'], ...lists })
  const answer = await api.ask('/v1/runs', { method: 'POST', body })
  Object.assign(api.intake, { ledger: api.ledger })
  expect(answer.status).toBe(202)
  expect(keys).toHaveLength(2)
  for (const key of keys) expect(await api.objects.exists(key)).toBe(true)
})
