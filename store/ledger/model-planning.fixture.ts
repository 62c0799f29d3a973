import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { anEvent, aPlannedOperation } from '#testing/open-test-ledger.ts'
import type { Ledger } from './ledger.ts'
import { addOperation, type LedgerModel, operationOf, pickFrom } from './ledger-model.fixture.ts'
import { orFault } from './model-commands.fixture.ts'
import type { PlanSlice } from './plan.ts'

type OfRun = { model: LedgerModel; slices: readonly PlanSlice[]; runId: RunId }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

function planModel(model: LedgerModel, { slice, operations, last, planHash }: PlanSlice): string {
  if (model.slices > 0 && planHash !== model.planHash) return 'RUN_008'
  if (slice < model.slices) return 'already'
  if (model.stop !== null) return 'refused'
  if (slice > model.slices || model.isPlanned) return 'RangeError'
  if (planHash !== undefined) model.planHash = planHash
  for (const planned of operations) addOperation(model, planned)
  for (const { operationId: id, after, afterAny = [] } of operations) {
    for (const other of after) operationOf(model, other).dependents.push({ id, any: false })
    for (const other of afterAny) operationOf(model, other).dependents.push({ id, any: true })
  }
  model.slices += 1
  model.isPlanned = last
  return 'planned'
}

function planAgainModel(model: LedgerModel, operations: readonly PlannedOperation[]): string {
  if (operations.some(({ operationId }) => model.operations.has(operationId))) return 'planned'
  if (model.stop !== null || model.phase !== 'review') return 'refused'
  for (const operation of operations) addOperation(model, operation)
  model.phase = 'execution'
  model.events.push({ event: 'operations.repeated' })
  return 'planned'
}

function moveModel(model: LedgerModel): string {
  if (model.phase !== 'planning') return 'already'
  model.phase = 'execution'
  model.events.push({ event: 'run.planned' })
  return 'moved'
}

export const planActs = {
  plan({ model, slices, runId }: OfRun, pick: number): Prepared {
    const place = pick % (slices.length + 1)
    const planned = slices[place] ?? { slice: place, operations: [], last: true }
    const isOfAnother = model.slices > 0 && pick % 10 === 9
    const slice = { ...planned, planHash: isOfAnother ? 'another' : 'the-plan' }
    return { expect: () => planModel(model, slice), send: (ledger) => orFault(ledger.plan(runId, slice)) }
  },
  /** The composer does this for operations whose changes collided. Another one may have planned some of them before. */
  planAgain({ model, runId }: OfRun, pick: number): Prepared | undefined {
    const repeated = pickFrom([...model.operations.values()], pick)
    if (repeated === undefined) return undefined
    const repeats = { operationId: repeated.id, changeSetIds: [] }
    const names = new Set([pick % 4, Math.floor(pick / 4) % 4])
    const operations = [...names].map((name) => aPlannedOperation(`again ${name}`, { repeats }))
    const event = anEvent({ event: 'operations.repeated', phase: 'review' })
    return {
      expect: () => planAgainModel(model, operations),
      send: (ledger) => ledger.planAgain(runId, { operations, event }),
    }
  },
  /** The planner does this when it has planned all. */
  move({ model, runId }: OfRun): Prepared | undefined {
    if (!model.isPlanned) return undefined
    const events = [anEvent({ event: 'run.planned', phase: 'planning' })]
    const from = [{ status: 'running', phase: 'planning' }] as const
    const change = { from, to: { phase: 'execution' }, command: 'planned', events } as const
    return { expect: () => moveModel(model), send: (ledger) => ledger.move(runId, change) }
  },
}
