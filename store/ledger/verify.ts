import { hasCode } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import { dataFault } from '#domain/events/event-table.ts'
import { recordId, type RunId } from '#domain/ids.ts'
import { isEndedOperation, operationStatuses, type OperationStatus, type RepeatedWork } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { segmentOf } from './stored-events.ts'
import { readAgenda } from './conductor-steps.ts'
import { foldAsks, readAsks } from './asks.ts'
import { foldAgenda, foldItems } from './fold-agenda.ts'
import { foldOperations, type OperationsFold } from './fold-operations.ts'
import { foldBudgets } from './fold-budgets.ts'
import { foldQuestions } from './fold-questions.ts'
import { foldCauses, foldDecisions, foldModelCalls, foldRun, foldTally } from './fold-run.ts'
import {
  compareFailures,
  compareFindings,
  compareIndexes,
  compareSets,
  type OperationAccount,
  readAccounts,
  readResults,
  readSets,
  type ResultTimes,
  type Violation,
} from './accounts.ts'
import { countVerdicts, readDecisions } from './decisions.ts'
import { readEvents, readTally } from './event-log.ts'
import { strayDoing } from './live-state.ts'
import { allowedTools, listQuestions } from './questions.ts'
import { getRun } from './read-runs.ts'
import type { LedgerStore } from './store.ts'

export type Verification = { violations: Violation[]; events: number; operations: number }

/**
 * Derives the run's state from its events and compares it with the stored one (invariants 1 to 6 of docs/guide/failures.md).
 * Reads in pages: an active run may show differences that mean nothing.
 */
export async function verifyRun(store: LedgerStore, runId: RunId): Promise<Verification> {
  const run = await getRun(store, runId)
  const accounts = await readAccounts(store, runId)
  const operations = foldOperations({ planned: accounts, policy: run.request.errorPolicy })
  const [lifecycle, modelCalls, decisions, budgets] = [foldRun(), foldModelCalls(), foldDecisions(), foldBudgets()]
  const questions = foldQuestions(operations, budgets)
  const [tally, causes, decided, items, asks] = [foldTally(), foldCauses(), foldAgenda(), foldItems(), foldAsks()]
  const { events, violations } = await readAll(store, run, [
    operations.take,
    lifecycle.take,
    modelCalls.take,
    budgets.take,
    questions.take,
    decisions.take,
    tally.take,
    causes.take,
    decided.take,
    items.take,
    asks.take,
  ])
  violations.push(...operations.violations, ...modelCalls.violations, ...lifecycle.violations(run))
  violations.push(
    ...compareStatuses(accounts, operations),
    ...compareCounters(run, accounts),
    ...compareRecords(run, accounts),
  )
  violations.push(...compareSets(run, accounts, await readSets(store, runId)))
  violations.push(...(await compareIndexes(store, runId, accounts)))
  violations.push(...(await compareFailures(store, runId, accounts, operations.failureCodeOf)))
  violations.push(...(await compareFindings(store, run, accounts)))
  const asked = { questions: await listQuestions(store, runId), allowed: await allowedTools(store, runId) }
  violations.push(...questions.violations(run, accounts, asked))
  const agenda = await readAgenda(store, runId)
  violations.push(...decided.violations(agenda), ...items.violations(run, accounts, agenda))
  violations.push(...asks.violations(await readAsks(store, runId)))
  violations.push(...decisions.violations(await readDecisions(store, runId), await countVerdicts(store, runId)))
  // Of what is missing invariant 1 has said it.
  if (events >= run.seq) violations.push(...causes.violations, ...tally.violations(await readTally(store, runId)))
  violations.push(...(await strayDoing(store, runId, accounts)))
  violations.push(...budgets.violations(run, accounts), ...withoutEnd(run, accounts, operations))
  violations.push(...compareResults(accounts, await readResults(store, run)))
  return { violations, events, operations: accounts.size }
}

/** Passes every event to each of `folds`; checks invariant 1, and that its data is as declared. Pages are segments: a missing one is noted and skipped. */
async function readAll(
  store: LedgerStore,
  run: Run,
  folds: readonly ((event: Event) => void)[],
): Promise<{ events: number; violations: Violation[] }> {
  const faults: string[] = []
  let [events, last] = [0, 0]
  for (;;) {
    const end = segmentOf(run, last + 1).last
    const page = await readEvents(store, run.runId, { after: last, limit: end - last }).catch(messageOfGap)
    if (typeof page === 'string') {
      faults.push(page)
      last = end
      continue
    }
    for (const event of page) {
      if (event.seq !== last + 1) faults.push(`events ${last + 1} to ${event.seq - 1} are missing`)
      last = event.seq
      const fault = dataFault(event.event, event.data)
      if (fault !== undefined) faults.push(`event ${last} ${event.event} is not as declared: ${fault}`)
      for (const take of folds) take(event)
    }
    events += page.length
    if (page.length === 0 || last < end) break
  }
  // An active run may have had more events since its state was read.
  const isCounted = isEnded(run.status) ? last === run.seq : last >= run.seq
  if (!isCounted) faults.push(`the last event is ${last}, the run has counted ${run.seq}`)
  return { events, violations: faults.map((message) => ({ invariant: 1, message })) }
}

function messageOfGap(error: unknown): string {
  if (hasCode(error, 'STORE_003')) return error.message
  throw error
}

type Accounts = ReadonlyMap<string, OperationAccount>

function compareStatuses(accounts: Accounts, fold: OperationsFold): Violation[] {
  return [...accounts].flatMap(([id, { status, isSaying }]) => {
    const folded = fold.statusOf(id)
    const agrees = folded === 'unseen' ? status === 'pending' || status === 'ready' : status === folded
    const faults = agrees ? [] : [`operation ${id} is ${status}, its events say ${folded}`]
    if (isSaying && status !== 'running') faults.push(`operation ${id} is ${status}, and what it says is there`)
    return faults.map((message) => ({ invariant: 2, message }) as const)
  })
}

function compareCounters(run: Run, accounts: Accounts): Violation[] {
  const tally = new Map<OperationStatus, number>()
  for (const { status, supersededBy } of accounts.values())
    if (supersededBy === null) tally.set(status, (tally.get(status) ?? 0) + 1)
  return operationStatuses.flatMap((status) => {
    const [counted, found] = [run.counts[status], tally.get(status) ?? 0]
    if (counted === found) return []
    return [{ invariant: 2, message: `${counted} operations are counted as ${status}, ${found} are` } as const]
  })
}

/**
 * Compares which records are superseded with what the others repeat; only one that has ended is, by one other, of a later generation that
 * the run has had and that its id is made of.
 */
function compareRecords(run: Run, accounts: Accounts): Violation[] {
  const repeating = [...accounts].flatMap(([id, { repeats }]) => (repeats === null ? [] : [{ id, ...repeats }]))
  const by = Map.groupBy(repeating, ({ supersedes }) => supersedes)
  return [...accounts].flatMap(([id, { status, generation, repeats, supersededBy }]) => {
    const faults =
      generation > run.generation
        ? [`operation ${id} is of generation ${generation}, the run has had ${run.generation}`]
        : []
    const [due = null, ...others] = (by.get(id) ?? []).map((successor) => successor.id)
    if (others.length > 0) faults.push(`operation ${id} is repeated by ${due} and by ${others.join(', ')}`)
    if (repeats !== null) faults.push(...repeatFaults(id, { generation, ...repeats }, accounts.get(repeats.supersedes)))
    if (supersededBy !== due) faults.push(`operation ${id} is superseded by ${supersededBy}, ${due} repeats it`)
    if (due !== null && !isEndedOperation(status)) faults.push(`operation ${id} is superseded and ${status}`)
    return faults.map((message) => ({ invariant: 2, message }) as const)
  })
}

function repeatFaults(
  id: string,
  { generation, operationId: work, supersedes }: RepeatedWork & { generation: number },
  former: OperationAccount | undefined,
): string[] {
  const of = `operation ${id} repeats ${supersedes}`
  const faults =
    id === recordId(work, generation) ? [] : [`${of}, and its id is not that of ${work} in generation ${generation}`]
  if (former === undefined) return [...faults, `${of}, which is not there`]
  if ((former.repeats?.operationId ?? supersedes) !== work) faults.push(`${of}, which is not of the work ${work}`)
  if (former.generation >= generation)
    faults.push(`${of}, which is of generation ${former.generation}, and is itself of ${generation}`)
  return faults
}

/** Invariant 3, of an ended run. */
function withoutEnd(run: Run, accounts: Accounts, fold: OperationsFold): Violation[] {
  if (!isEnded(run.status)) return []
  const faults = fold.running().map((id) => `the run has ended, the last attempt of operation ${id} has not`)
  for (const [id, { status, hasOutcome }] of accounts) {
    if (isEndedOperation(status) && hasOutcome) continue
    faults.push(`the run has ended, operation ${id} is ${status} ${hasOutcome ? 'with' : 'without'} an outcome`)
  }
  return faults.map((message) => ({ invariant: 3, message }))
}

function compareResults(accounts: Accounts, results: ResultTimes): Violation[] {
  return [...accounts].flatMap(([id, { status }]) => {
    const times = results.times.get(id) ?? 0
    const expected = isEndedOperation(status) ? 1 : 0
    if (times === expected || (times === 0 && !results.complete)) return []
    return [{ invariant: 6, message: `operation ${id} is ${status} and has ${times} results` } as const]
  })
}
