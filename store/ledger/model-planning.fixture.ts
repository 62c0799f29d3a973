import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import type { Ledger } from './ledger.ts'
import { addOperation, isStopped, type LedgerModel, operationOf } from './ledger-model.fixture.ts'
import { orFault } from './model-commands.fixture.ts'
import { repeatedWork, supersede } from './model-generations.fixture.ts'
import type { PlanSlice } from './plan.ts'

type OfRun = { model: LedgerModel; slices: readonly PlanSlice[]; runId: RunId }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

function planModel(model: LedgerModel, { slice, operations, last, planHash, generation }: PlanSlice): string {
  if (generation !== model.generation) return 'refused'
  if (model.slices > 0 && planHash !== model.planHash) return 'RUN_008'
  if (slice < model.slices) return 'already'
  if (isStopped(model)) return 'refused'
  if (slice > model.slices || model.isPlanned) return 'RangeError'
  if (planHash !== undefined) model.planHash = planHash
  addPlanned(model, operations)
  model.slices += 1
  model.isPlanned = last
  return 'planned'
}

function addPlanned(model: LedgerModel, operations: readonly PlannedOperation[]): void {
  for (const planned of operations) addOperation(model, planned)
  for (const { operationId: id, after, afterAny = [] } of operations) {
    for (const other of after) operationOf(model, other).dependents.push({ id, any: false })
    for (const other of afterAny) operationOf(model, other).dependents.push({ id, any: true })
  }
  supersede(model, operations)
}

function planAgainModel(model: LedgerModel, operations: readonly PlannedOperation[], seen: number): string {
  if (model.generation === seen + 1) return 'planned'
  if (model.generation !== seen || isStopped(model) || model.phase !== 'review') return 'refused'
  addPlanned(model, operations)
  model.generation += 1
  model.phase = 'execution'
  model.events.push({ event: 'operations.repeated' })
  return 'planned'
}

const stages = {
  discovery: { to: 'planning', event: 'nodes.discovered' },
  planning: { to: 'execution', event: 'run.planned' },
} as const

function moveModel(model: LedgerModel, from: keyof typeof stages): string {
  const command = `${model.generation} ${from}`
  if (model.moves.has(command)) return 'already'
  if (model.status === 'ended' || model.phase !== from) return 'refused'
  model.moves.add(command)
  model.phase = stages[from].to
  model.events.push({ event: stages[from].event })
  return 'moved'
}

/** What a reopened run plans: works once more, and what was not planned before, without waiting for what has ended. */
function nextSlice({ model, slices }: OfRun, pick: number): PlanSlice {
  const { generation } = model
  const unplanned = slices
    .flatMap(({ operations }) => operations)
    .filter((one) => !model.operations.has(one.operationId))
  const repeated = repeatedWork(model, { pick, most: pick % 4, because: 'asked', generation })
  return {
    slice: 0,
    operations: [...repeated, ...unplanned.map((one) => ({ ...one, after: [], afterAny: [] }))],
    last: true,
  }
}

export const planActs = {
  plan(world: OfRun, pick: number): Prepared {
    const { model, slices, runId } = world
    const place = pick % (model.generation === 1 ? slices.length + 1 : 2)
    const known = model.generation === 1 ? slices[place] : place === 0 ? nextSlice(world, pick) : undefined
    const planned = known ?? { slice: place, operations: [], last: true }
    const isOfAnother = model.slices > 0 && pick % 10 === 9
    const generation = model.generation - (pick % 10 === 8 ? 1 : 0)
    const slice = { ...planned, generation, planHash: isOfAnother ? 'another' : 'the-plan' }
    return { expect: () => planModel(model, slice), send: (ledger) => orFault(ledger.plan(runId, slice)) }
  },
  /** The composer does this for operations whose changes collided. Another one may have done so before. */
  planAgain({ model, runId }: OfRun, pick: number): Prepared | undefined {
    const generation = model.generation - (pick % 6 === 5 ? 1 : 0)
    const operations = repeatedWork(model, { pick, most: 2, because: 'collided', generation: generation + 1 })
    if (operations.length === 0) return undefined
    const event = anEvent({ event: 'operations.repeated', phase: 'review' })
    return {
      expect: () => planAgainModel(model, operations, generation),
      send: (ledger) => ledger.planAgain(runId, { operations, event, generation }),
    }
  },
  /** The planner does this when it has planned all, and before that when it has found the nodes of a reopened run. */
  move({ model, runId }: OfRun): Prepared | undefined {
    const phase = model.phase === 'discovery' ? 'discovery' : 'planning'
    if (phase === 'planning' && !model.isPlanned) return undefined
    const { to, event } = stages[phase]
    const change = {
      from: [{ status: 'running', phase }],
      to: { phase: to },
      command: phase,
      events: [anEvent({ event, phase })],
    } as const
    return { expect: () => moveModel(model, phase), send: (ledger) => ledger.move(runId, change) }
  },
}
