import type { AgendaItem, AgendaState } from '#domain/agenda.ts'
import { newToken } from '#domain/ids.ts'
import type { NewEvent } from '#domain/event.ts'
import type { StepCommit } from '#store/ledger/conductor-steps.ts'
import { putDecisionRecord } from '#store/objects/decision-record.ts'
import { anEvent } from '#testing/an-event.ts'
import { runForm, tarOf, type TestApi } from './app.fixture.ts'
import { storeNodes } from './played-run.fixture.ts'

export const anItem = (item: Partial<AgendaItem> & { item_id: string }): AgendaItem => ({
  capability: 'lint',
  where: {},
  objective: 'clean the lint',
  success_criteria: [{ kind: 'no_work_left' }],
  depends_on: [],
  budget: {},
  priority: 5,
  ...item,
})

/** Submits a run with an objective, and plays discovery until a conductor decides about it. */
export async function openConducted(
  api: TestApi,
  request: { objective: string; agents?: string[]; approval?: 'plan' } = { objective: 'lint is clean' },
): Promise<string> {
  const before = api.jobs.length
  const answer = await api.ask('/v1/runs', {
    method: 'POST',
    body: runForm(await tarOf({ 'a.py': 'x = 1\n' }), request),
  })
  const runId = api.jobs[before]
  if (runId === undefined) throw new Error(`the run was not accepted: ${await answer.text()}`)
  const events = [anEvent({ event: 'run.started', phase: 'snapshot' })]
  const from = [{ status: 'queued' }, { status: 'running' }] as const
  await api.ledger.move(runId, { from, to: { status: 'running', phase: 'planning' }, command: 'start', events })
  await storeNodes(api, runId, [])
  const set = { conductor: 'open', planned: '1' }
  await api.ledger.move(runId, { from, to: { phase: 'execution' }, command: 'conduct', set, events: [] })
  return runId
}

type Step = Partial<Omit<StepCommit, 'state' | 'token' | 'version'>>

/** Plays one step of the conductor, which takes in all messages. Returns these. */
export async function playStep(
  api: TestApi,
  runId: string,
  change: (state: AgendaState) => AgendaState,
  step: Step = {},
) {
  const token = newToken()
  const claimed = await api.ledger.claimStep(runId, { token, leaseMs: 10_000 })
  if (claimed.kind !== 'claimed') throw new Error(`the step is ${claimed.kind}`)
  const { version, state, inbox } = claimed.step
  const rest = { consumed: inbox.length, dispatch: [], events: [], ...step }
  const committed = await api.ledger.commitStep(runId, { token, version, state: change(state), ...rest })
  if (committed === 'lost') throw new Error('the step is lost')
  return inbox
}

/** Plays the first decision: these items, because of the event `run.started`. */
export async function playPlan(
  api: TestApi,
  runId: string,
  items: readonly AgendaItem[],
  planHash?: string,
): Promise<void> {
  const rationale = { text: 'the nodes have faults', events: [2], confidence: 0.8 }
  const approval = planHash === undefined ? null : { plan_hash: planHash, wanted_since: Date.parse('2026-05-01') }
  const bootstrap = { kind: 'plan' as const, model: 'planner', rationale }
  const waiting = items.map((item) => ({ ...item, status: 'waiting' as const, retries: 0 }))
  const record_hash = await putTold(api, runId, 'lint: 3 nodes')
  const said = { items, plan_hash: planHash ?? 'h', rationale, model: 'planner', record_hash }
  const spent = { prompt_tokens: 1200, completion_tokens: 34 }
  const events = [decided('agenda.decided', { ...said, ...spent })]
  const waits = planHash === undefined ? undefined : ({ kind: 'approval' } as const)
  await playStep(api, runId, (state) => ({ ...state, items: waiting, bootstrap, approval }), { events, waits })
}

export function decided(event: NewEvent['event'], data: Readonly<Record<string, unknown>>): NewEvent {
  return anEvent({ event, phase: 'execution', origin: { kind: 'conductor', id: 'c1' }, data })
}

async function putTold({ objects, project: projectId }: TestApi, runId: string, text: string): Promise<string> {
  const usage = { promptTokens: 1200, completionTokens: 34 }
  const hashes = { promptHash: 'p', schemaHash: 's' }
  const rationale = { text: 'the nodes have faults', events: [2], confidence: 0.8 }
  const outcome = { kind: 'decided' as const, decision: { kind: 'block' as const, reason: 'none', rationale } }
  return putDecisionRecord(
    objects,
    { projectId, runId },
    {
      v: 1,
      runId,
      question: 'bootstrap',
      heard: 0,
      model: 'planner',
      ...hashes,
      startedAt: 0,
      messages: [{ role: 'user', content: text }],
      replies: [],
      exchanges: [],
      usage,
      outcome,
    },
  )
}
