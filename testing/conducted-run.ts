import type { ItemState } from '#domain/agenda.ts'
import type { NewEvent } from '#domain/event.ts'
import { defaultProject, type ProjectId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { RunRequest } from '#domain/run.ts'
import type { StepCommit } from '#store/ledger/conductor-steps.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { PlanSlice } from '#store/ledger/plan.ts'
import { anEvent } from './an-event.ts'
import { aNewRun, aRequest } from './open-test-ledger.ts'

const origin = { kind: 'discovery', id: 'test' } as const

/** What discovery has stored of a run's code. */
type Stored = { snapshotId: string; nodeListKey: string; edgeListKey: string }

/** A run with an objective that executes: its conductor may decide. */
export async function conductedRun(
  ledger: Ledger,
  request: Partial<RunRequest> = {},
  { projectId = defaultProject, ...set }: { projectId?: ProjectId } & Partial<Stored> = {},
): Promise<RunId> {
  const run = aNewRun({ projectId, request: aRequest({ objective: 'Every function is explained.', ...request }) })
  const { runId } = run
  await ledger.createRun(run)
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'execution' },
    command: 'start',
    set: { snapshotId: 's1', ...set, conductor: 'open', planned: '1' },
    events: [anEvent({ event: 'run.started', phase: 'planning', origin })],
  })
  return runId
}

export function anItem(itemId: string, over: Partial<ItemState> = {}): ItemState {
  const item = { item_id: itemId, capability: 'lint', where: {}, objective: 'Mend it.', success_criteria: [] }
  return { ...item, depends_on: [], budget: {}, priority: 5, status: 'waiting', retries: 0, ...over }
}

/** Claims a step of the conductor, which takes in all that it hears, and commits it with `over`; returns the version that it has made. */
export async function takeStep(ledger: Ledger, runId: RunId, over: Partial<StepCommit> = {}): Promise<number> {
  const claimed = await ledger.claimStep(runId, { token: 'the-step', leaseMs: 1_000 })
  if (claimed.kind !== 'claimed') throw new Error(`the step is ${claimed.kind}`)
  const { token, version, state, inbox } = claimed.step
  const step = { token, version, state, consumed: inbox.length, dispatch: [], events: [], ...over }
  const answer = await ledger.commitStep(runId, step)
  if (answer !== 'committed') throw new Error(`the step is ${answer}`)
  return version + 1
}

/** The decision of a model on these items: the first one, or one that adds them. */
export function decisionEvent(items: readonly ItemState[], isFirst = true): NewEvent {
  const planned = items.map(({ status: _status, retries: _retries, ...item }) => item)
  const head = { phase: 'execution', origin: { kind: 'conductor', id: 'test' } } as const
  if (!isFirst) return anEvent({ event: 'conductor.decided', ...head, data: { kind: 'follow_up', items: planned } })
  return anEvent({ event: 'agenda.decided', ...head, data: { items: planned, rationale } })
}

const rationale = { text: 'as it was asked', events: [], confidence: 1 }

/** Has the conductor decide on these items, as far as they are new, and dispatch them; returns the version of the agenda that does so. */
export async function dispatchItems(ledger: Ledger, runId: RunId, ...items: readonly ItemState[]): Promise<number> {
  const { state } = (await ledger.readAgenda(runId)) ?? {}
  if (state === undefined) throw new Error(`run ${runId} has no agenda`)
  const isKnown = ({ item_id: id }: ItemState) => state.items.some((one) => one.item_id === id)
  const added = items.filter((item) => !isKnown(item))
  const isFirst = state.bootstrap === null
  const decided = {
    ...state,
    decisions: state.decisions + (isFirst || added.length === 0 ? 0 : 1),
    bootstrap: state.bootstrap ?? { kind: 'plan' as const, model: 'test', rationale },
    items: [...state.items, ...added].map((item) => {
      return items.some(({ item_id: id }) => id === item.item_id) ? { ...item, status: 'planning' as const } : item
    }),
  }
  const events = added.length === 0 ? [] : [decisionEvent(added, isFirst)]
  return takeStep(ledger, runId, { state: decided, dispatch: items.map((one) => one.item_id), events })
}

/** What the planner passes on of an item that `version` of the agenda has dispatched. */
export function aPlannedItem(
  itemId: string,
  version: number,
  operations: readonly PlannedOperation[],
  generation = 1,
): PlanSlice {
  const data = {
    item_id: itemId,
    capability: 'lint',
    operations: operations.length,
    generation,
    looked_at: operations.length,
    skipped: [],
    left: 0,
    notices: [],
  }
  const started = anEvent({ event: 'item.started', phase: 'execution', origin, data })
  return {
    slice: 0,
    operations,
    last: true,
    generation,
    item: { itemId, version, reads: 'what it reads', objective: 'Do it well.', left: 0, started },
  }
}
