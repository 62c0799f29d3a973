import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RunAgenda } from '#schemas/agenda-schema.ts'
import { anItem, decided, openConducted, playPlan, playStep } from '../../played-agenda.fixture.ts'
import { composeRun, submitRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const items = [anItem({ item_id: 'lint' }), anItem({ item_id: 'docs', capability: 'docstring', depends_on: ['lint'] })]

const agendaOf = async (runId: string) => RunAgenda.parse(await (await api.ask(`/v1/runs/${runId}/agenda`)).json())

function post(path: string, body: object, key?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return api.ask(`/v1/runs/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

const Refused = z.object({ status: z.int(), error_code: z.string() })

async function codeOf(answered: Promise<Response>): Promise<[number, string]> {
  const { status, error_code: code } = Refused.parse(await (await answered).json())
  return [status, code]
}

describe('GET /v1/runs/{run_id}/agenda', () => {
  it('shows items, the decision that they come from, what that rests on and what its model was told', async () => {
    const runId = await openConducted(api)
    expect(await agendaOf(runId)).toMatchObject({ objective: 'lint is clean', items: [], decisions: [], answer: null })
    await playPlan(api, runId, items)
    const { items: shown, decisions } = await agendaOf(runId)
    const [plan] = decisions
    expect(decisions).toEqual([
      {
        seq: expect.any(Number),
        follows_from: null,
        ts: expect.stringMatching(/Z$/),
        kind: 'plan',
        summary: expect.stringContaining('2 items'),
        item_ids: ['lint', 'docs'],
        plan_hash: 'h',
        rationale: 'the nodes have faults',
        confidence: 0.8,
        cited: [{ seq: 2, summary: 'run started' }],
        reason: null,
        given: null,
        model: 'planner',
        tokens: 1234,
        decided_by: 'conductor/c1',
      },
    ])
    expect(shown).toMatchObject([
      { item_id: 'lint', status: 'waiting', retries: 0, decided_in: plan?.seq, success_criteria: [{ met: null }] },
      { item_id: 'docs', status: 'waiting', depends_on: ['lint'], decided_in: plan?.seq },
    ])
    const talk = await (await api.ask(`/v1/runs/${runId}/agenda/decisions/${plan?.seq}`)).json()
    expect(talk).toEqual({ seq: plan?.seq, messages: [{ role: 'user', text: 'lint: 3 nodes' }] })
    expect(await codeOf(api.ask(`/v1/runs/${runId}/agenda/decisions/1`))).toEqual([404, 'RUN_004'])
  })

  it('says which criteria are reached once an item has ended, and shows the answer with the run', async () => {
    const runId = await openConducted(api, { objective: 'find faults', agents: ['lint'] })
    const criteria = [
      { kind: 'findings' as const, least: 2 },
      { kind: 'no_work_left' as const },
      { kind: 'proved_changes' as const, least: 1 },
      { kind: 'tests_pass' as const },
    ]
    await playPlan(api, runId, [anItem({ item_id: 'lint', success_criteria: criteria })])
    const ended = { succeeded: 1, unchanged: 0, failed: 0, blocked: 0, skipped: 0, cancelled: 0 }
    const rest = {
      change_sets: 1,
      findings: 1,
      tokens: 9,
      left: 0,
      faults: {},
      reads: null,
      estimate: null,
      fault: null,
    }
    const result = { planned: 1, open: 0, ended, ...rest }
    const answer = { text: 'one is left', events: [2], paths: ['a.py'], findings: [{ path: 'a.py', line: 1 }] }
    await playStep(
      api,
      runId,
      (state) => ({ ...state, items: state.items.map((item) => ({ ...item, status: 'ended', result })), answer }),
      { close: { kind: 'done' }, events: [decided('conductor.decided', { kind: 'complete', answer })] },
    )
    const agenda = await agendaOf(runId)
    expect(agenda.items[0]).toMatchObject({ status: 'ended', counts: { planned: 1, findings: 1 } })
    const metBy = ({ items: [item] }: RunAgenda) => item?.success_criteria.map(({ met }) => met)
    expect(metBy(agenda)).toEqual([false, true, true, null])
    expect(agenda).toMatchObject({ answer, decisions: [{ kind: 'plan' }, { kind: 'complete' }] })
    const run: unknown = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(run).toMatchObject({ answer, request: { objective: 'find faults', agents: ['lint'] } })
    const timeline: unknown = await (await api.ask(`/v1/runs/${runId}/timeline`)).json()
    expect(timeline).toMatchObject({ objective: 'find faults' })
    expect(await codeOf(post(`${runId}/messages`, { text: 'and types' }))).toEqual([409, 'RUN_007'])
    const ran = { tests: 3, failing: [], failingTotal: 0, runs: 3, outputs: [], durationMs: 9, leftOut: 1 }
    const gate = { command: 'pytest', verdict: 'passed' as const, ...ran }
    await composeRun(api, runId, { files: [], keptOfItems: {}, gate })
    expect(metBy(await agendaOf(runId))).toEqual([false, true, false, true])
  })

  it('is refused for a run that was asked for by its agents alone', async () => {
    const runId = await submitRun(api)
    expect(await codeOf(api.ask(`/v1/runs/${runId}/agenda`))).toEqual([409, 'RUN_012'])
    expect(await codeOf(post(`${runId}/messages`, { text: 'more' }))).toEqual([409, 'RUN_012'])
    expect(await codeOf(post(`${runId}/approval`, { plan_hash: 'h1' }))).toEqual([409, 'RUN_012'])
    expect(await (await api.ask(`/v1/runs/${runId}/timeline`)).json()).toMatchObject({ objective: null })
  })
})

describe('POST /v1/runs/{run_id}/messages', () => {
  it('reaches the conductor once for a key, and leaves an event', async () => {
    const runId = await openConducted(api)
    const body = { text: 'leave tests alone' }
    expect((await post(`${runId}/messages`, body, 'a-key')).status).toBe(202)
    expect((await post(`${runId}/messages`, body, 'a-key')).status).toBe(202)
    expect(await codeOf(post(`${runId}/messages`, { text: 'other' }, 'a-key'))).toEqual([422, 'INTAKE_005'])
    expect(await codeOf(post(`${runId}/messages`, { text: '  ' }))).toEqual([422, 'INTAKE_008'])
    expect(await agendaOf(runId)).toMatchObject({ messages_waiting: 1 })
    const inbox = await playStep(api, runId, (state) => state)
    expect(inbox).toMatchObject([{ kind: 'said', text: 'leave tests alone', by: `environment/${api.project}` }])
    const summary = `environment/${api.project} added: leave tests alone`
    expect(await agendaOf(runId)).toMatchObject({ messages_waiting: 0, decisions: [{ kind: 'extend', summary }] })
    const milestones = await api.ask(`/v1/runs/${runId}/timeline?required_milestones=objective.extended`)
    expect(milestones.status).toBe(200)
  })
})

describe('POST /v1/runs/{run_id}/approval', () => {
  it('approves the plan that was looked at, and no other', async () => {
    const runId = await openConducted(api, { objective: 'lint is clean', approval: 'plan' })
    expect(await codeOf(post(`${runId}/approval`, { plan_hash: 'h1' }))).toEqual([409, 'RUN_011'])
    await playPlan(api, runId, items, 'h1')
    const waits: unknown = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(waits).toMatchObject({
      waiting_for: [{ kind: 'approval', since: expect.stringMatching(/Z$/) }],
      current_step: 'waits for the approval of its plan',
      request: { approval: 'plan' },
    })
    expect(await codeOf(post(`${runId}/approval`, { plan_hash: 'h2' }))).toEqual([409, 'RUN_011'])
    expect((await post(`${runId}/approval`, { plan_hash: 'h1' }, 'its-key')).status).toBe(202)
    expect((await post(`${runId}/approval`, { plan_hash: 'h1' }, 'its-key')).status).toBe(202)
    const by = `environment/${api.project}`
    const at = Date.parse('2026-05-02')
    const inbox = await playStep(api, runId, (state) => ({
      ...state,
      approval: state.approval && { ...state.approval, by, at },
    }))
    expect(inbox).toEqual([{ kind: 'approved', plan_hash: 'h1', by }])
    expect(await agendaOf(runId)).toMatchObject({
      approval: { plan_hash: 'h1', approved_by: by, approved_at: '2026-05-02T00:00:00.000Z' },
    })
    expect((await post(`${runId}/approval`, { plan_hash: 'h1' })).status).toBe(202)
    expect(await agendaOf(runId)).toMatchObject({ messages_waiting: 0 })
    await composeRun(api, runId, { files: [] })
    expect(await codeOf(post(`${runId}/approval`, { plan_hash: 'h1' }))).toEqual([409, 'RUN_007'])
  })
})
