import type { RunId } from '#domain/ids.ts'
import { isEndedOperation, operationStatuses, type OperationStatus } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { foldOperations, type OperationsFold } from './fold-operations.ts'
import { readAccounts, readResults, readSets, type OperationAccount } from './read-accounts.ts'
import { readEvents } from './read-events.ts'
import { getRun } from './read-run.ts'
import type { LedgerStore } from './store.ts'
import type { Violation } from './violation.ts'

const eventsPerPage = 1_000

export type Verification = { violations: Violation[]; events: number; operations: number }

/**
 * Derives the run's state from its events and compares it with what the ledger keeps (invariants 1 to 6 of the ledger's
 * decision record). Reads in pages, not in one step: a run that is being worked on may show differences that are none.
 */
export async function verifyRun(store: LedgerStore, runId: RunId): Promise<Verification> {
  const run = await getRun(store, runId)
  const accounts = await readAccounts(store, runId)
  const waitsFor = new Map([...accounts].map(([id, account]) => [id, account.waitsFor]))
  const fold = foldOperations({ waitsFor, policy: run.request.errorPolicy })
  const { events, violations } = await foldEvents(store, run, fold)
  violations.push(...fold.violations)
  violations.push(...compareStatuses(accounts, fold), ...compareCounters(run, accounts))
  violations.push(...compareSets(accounts, await readSets(store, runId)))
  violations.push(...missingOutcomes(run, accounts))
  violations.push(...compareResults(accounts, await readResults(store, runId)))
  return { violations, events, operations: accounts.size }
}

/** Invariant 1 on the way. */
async function foldEvents(
  store: LedgerStore,
  run: Run,
  fold: OperationsFold,
): Promise<{ events: number; violations: Violation[] }> {
  const violations: Violation[] = []
  let events = 0
  let last = 0
  for (;;) {
    const page = await readEvents(store, run.runId, { after: last, limit: eventsPerPage })
    for (const event of page) {
      if (event.seq !== last + 1) {
        violations.push({ invariant: 1, message: `events ${last + 1} to ${event.seq - 1} are missing` })
      }
      last = event.seq
      fold.take(event)
    }
    events += page.length
    if (page.length < eventsPerPage) break
  }
  if (last !== run.seq) {
    violations.push({ invariant: 1, message: `the last event is ${last}, the run has counted ${run.seq}` })
  }
  return { events, violations }
}

type Accounts = ReadonlyMap<string, OperationAccount>

function compareStatuses(accounts: Accounts, fold: OperationsFold): Violation[] {
  return [...accounts].flatMap(([id, { status }]) => {
    const folded = fold.statusOf(id)
    const agrees = folded === 'unseen' ? status === 'pending' || status === 'ready' : status === folded
    if (agrees) return []
    return [{ invariant: 2, message: `operation ${id} is ${status}, its events say ${folded}` } as const]
  })
}

function compareCounters(run: Run, accounts: Accounts): Violation[] {
  const tally = new Map<OperationStatus, number>()
  for (const { status } of accounts.values()) tally.set(status, (tally.get(status) ?? 0) + 1)
  return operationStatuses.flatMap((status) => {
    const [counted, found] = [run.counts[status], tally.get(status) ?? 0]
    if (counted === found) return []
    return [{ invariant: 2, message: `${counted} operations are counted as ${status}, ${found} are` } as const]
  })
}

function compareSets(accounts: Accounts, sets: Record<'ready' | 'leases' | 'ended', readonly string[]>): Violation[] {
  const mirrored = {
    ready: (status: OperationStatus) => status === 'ready',
    leases: (status: OperationStatus) => status === 'running',
    ended: isEndedOperation,
  }
  return (['ready', 'leases', 'ended'] as const).flatMap((name) => {
    const members = new Set(sets[name])
    const expected = new Set([...accounts].filter(([, { status }]) => mirrored[name](status)).map(([id]) => id))
    const missing = [...expected].filter((id) => !members.has(id))
    const foreign = [...members].filter((id) => !expected.has(id))
    return [
      ...missing.map((id) => ({ invariant: 2, message: `operation ${id} is not in the set ${name}` }) as const),
      ...foreign.map((id) => ({ invariant: 2, message: `operation ${id} is in the set ${name}` }) as const),
    ]
  })
}

/** Invariant 3, of an ended run. */
function missingOutcomes(run: Run, accounts: Accounts): Violation[] {
  if (!isEnded(run.status)) return []
  return [...accounts].flatMap(([id, { status, hasOutcome }]) => {
    if (isEndedOperation(status) && hasOutcome) return []
    return [{ invariant: 3, message: `the run has ended, operation ${id} is ${status} without an outcome` } as const]
  })
}

function compareResults(
  accounts: Accounts,
  results: { times: ReadonlyMap<string, number>; complete: boolean },
): Violation[] {
  return [...accounts].flatMap(([id, { status }]) => {
    const times = results.times.get(id) ?? 0
    const expected = isEndedOperation(status) ? 1 : 0
    if (times === expected || (times === 0 && !results.complete)) return []
    return [{ invariant: 6, message: `operation ${id} is ${status} and has ${times} results` } as const]
  })
}
