import { recordId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation, RepeatedWork } from '#domain/operation.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import type { Ledger } from './ledger.ts'
import { type LedgerModel, openCount, operationOf, pickFrom } from './ledger-model.fixture.ts'

type OfRun = { model: LedgerModel; runId: RunId }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

const origin = { kind: 'discovery', id: 'test' } as const

/** Plans up to `most` works once more, each after the one before it, in the generation after `seen`. */
export function repeatedWork(
  model: LedgerModel,
  how: { pick: number; most: number; because: RepeatedWork['because']; generation: number },
): PlannedOperation[] {
  const { pick, most, because, generation } = how
  const current = [...model.operations.values()].filter((one) => one.supersededBy === null)
  const chosen = new Set(Array.from({ length: most }, (_, at) => pickFrom(current, pick + at * 7)))
  const planned: PlannedOperation[] = []
  for (const one of chosen) {
    // What never ran has no changes that could collide.
    if (one === undefined || (because === 'collided' && one.attempt === 0)) continue
    const { operationId, repeats } = one.planned
    const original = repeats?.operationId ?? operationId
    planned.push({
      ...one.planned,
      operationId: recordId(original, generation),
      after: pick % 2 === 0 ? [] : planned.slice(-1).map((before) => before.operationId),
      afterAny: [],
      repeats: { operationId: original, supersedes: operationId, because, changeSetIds: [] },
    })
  }
  return planned
}

/** Takes records out of what counts, with which others begin. */
export function supersede(model: LedgerModel, planned: readonly PlannedOperation[]): void {
  for (const { operationId, repeats } of planned) {
    if (repeats !== undefined) operationOf(model, repeats.supersedes).supersededBy = operationId
  }
  const current = [...model.operations.values()].filter((one) => one.supersededBy === null)
  for (const [code, first] of model.firstFailures) {
    if (operationOf(model, first).supersededBy === null) continue
    const inOrder = (status: string) => current.find((one) => one.status === status && one.code === code)
    const next = inOrder('failed') ?? inOrder('blocked')
    if (next === undefined) model.firstFailures.delete(code)
    else model.firstFailures.set(code, next.id)
  }
}

function endModel(model: LedgerModel): string {
  if (model.status === 'ended') return 'already'
  if (model.stop === null && (model.phase !== 'review' || model.status !== 'running')) return 'refused'
  if (openCount(model) > 0) return 'open'
  model.events.push({ event: model.stop === null ? 'run.completed' : 'run.cancelled' })
  model.status = 'ended'
  return 'moved'
}

function reopenModel(model: LedgerModel, { seen, command, policy }: Seen): unknown {
  if (model.lastReopening?.command === command) return model.lastReopening.answer
  if (seen !== model.generation) return 'changed'
  if (model.status !== 'ended') return 'open'
  model.generation += 1
  model.events.push({ event: 'run.reopened' })
  if (policy !== undefined) model.policy = policy
  if (model.budget !== null) model.budget = model.tokens + model.budget - model.budgetBase
  if (model.budget !== null) model.budgetBase = model.tokens
  const begins = {
    status: 'running',
    phase: 'discovery',
    stop: null,
    slices: 0,
    isPlanned: false,
    wakes: false,
  } as const
  Object.assign(model, begins)
  delete model.planHash
  // Two events are not modelled: the run was accepted and started.
  const answer = { generation: model.generation, seq: model.events.length + 2 }
  model.lastReopening = { command, answer }
  return answer
}

type Seen = { seen: number; command: string; policy: LedgerModel['policy'] | undefined }

export const generationActs = {
  /** The composer does this, or the dispatcher for a run that was stopped. */
  end({ model, runId }: OfRun): Prepared {
    const isStopped = model.stop !== null
    const status = isStopped ? 'cancelled' : 'completed'
    const from = isStopped
      ? (['running', 'waiting'] as const).map((one) => ({ status: one }))
      : [{ status: 'running', phase: 'review' } as const]
    const events = [anEvent({ event: `run.${status}`, phase: 'review' })]
    const command = isStopped ? 'stop' : 'complete'
    const { generation } = model
    const change = { from, to: { status }, command, events, ...(isStopped ? {} : { generation }) } as const
    return { expect: () => endModel(model), send: (ledger) => ledger.move(runId, change) }
  },
  /** Somebody who read the run just now, or a generation ago, asks for a retry. */
  reopen({ model, runId }: OfRun, pick: number): Prepared {
    const seen = pick % 5 === 4 ? model.generation - 1 : model.generation
    const how = { seen, command: `retry ${pick % 7}`, policy: pick % 4 === 3 ? ('continue' as const) : undefined }
    const projectId = 'default'
    const { command, policy: errorPolicy } = how
    return {
      expect: () => reopenModel(model, how),
      send: (ledger) =>
        ledger.reopen({ runId, projectId, generation: seen }, { wanted: {}, errorPolicy, origin, command }),
    }
  },
}
