import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { type ProofDeps, verifyRun } from '#stages/audit/verify-run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { agendaFaults, askFaults } from './agenda-faults.ts'
import { type Endings, foldEndings } from './fold-endings.ts'
import type { GeneratedSource, Submission } from './draw-history.ts'
import type { FaultName } from './fault.ts'
import { cleanWithinMs } from './find-leftovers.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'

/** A run of a history, and what was requested for it. */
export type HistoryRun = {
  runId: RunId
  request: Submission['request']
  /** A cancel of it was answered with success. */
  cancelled: boolean
  /** The kinds of the history's faults, each as often as it happened. */
  faults: readonly FaultName[]
}

export type RunCheck = {
  status: Run['status']
  operations: number
  retried: number
  lost: number
  answered: number
  deferred: number
  violations: string[]
}

export type CheckDeps = ProofDeps & { ledger: Ledger }

/** Leases also expire while Redis is down, or cannot be reached. */
const losesWorkers = new Set<FaultName>([
  'kill_worker',
  'freeze_worker',
  'kill_redis',
  'cut',
  'half_cut',
  'lose_connections',
])
/**
 * Prefixes of error codes that no operation of these histories may end with. AGENT_002 and AGENT_006: a model that is away is
 * waited for, and that time is not the attempt's.
 */
const never = ['STORE', 'TOOL', 'CONFIG', 'DISC', 'INTAKE', 'AGENT_002', 'AGENT_006', 'no ']
/** What only replies that a failing model breaks off may cause. */
const ofTheModel = ['AGENT_008']
const eventsPerPage = 1_000
const maxLost = 3
const lostTooOften = /worker was lost \d+ times/

/** Finds what is wrong with the records of a run that should have ended. */
export async function checkRun(run: HistoryRun, proof: CheckDeps): Promise<RunCheck> {
  const { runId } = run
  const { ledger } = proof
  const { violations, operations } = await verifyRun(runId, { ...proof, momentMs: cleanWithinMs })
  const state = await ledger.getRun(runId)
  const events = await allEvents(runId, ledger)
  const endings = foldEndings(events)
  const found = [
    ...violations.map(({ invariant, message }) => `verify ${invariant}: ${message}`),
    ...endings.violations,
    ...(run.request.objective === undefined ? [] : agendaFaults(events)),
    ...askFaults(events),
    ...unexpectedlyUnanswered(run, events),
    ...unexpectedStatus(run, state, endings),
    ...unexpectedFailures(run, endings),
    ...(isEnded(state.status) && endings.runEndings.length === 0 ? ['the run has ended without an event'] : []),
  ]
  const named = found.map((violation) => `run ${runId}: ${violation}`)
  const { retried, lost, answered, deferred } = endings
  return { status: state.status, operations, retried, lost, answered, deferred, violations: named }
}

/**
 * A run whose cancel was accepted is cancelled, another completes; with `stop_run` it may fail as an operation did, and where the time of its items
 * was over before anything of them had begun it fails for that.
 */
function unexpectedStatus({ request, cancelled }: HistoryRun, run: Run, { failures }: Endings): string[] {
  const stopped = run.status === 'failed' && failures.some(({ errorCode }) => errorCode === run.errorCode)
  if (run.status === (cancelled ? 'cancelled' : 'completed')) return []
  if (stopped && request.error_policy === 'stop_run') return []
  if (run.status === 'failed' && run.errorCode === 'LIMIT_004') return []
  return [`${run.status} (${run.errorCode ?? 'no code'}: ${run.reason ?? 'no reason'})`]
}

/**
 * Faults of stores and processes are waited out or tried again: no operation fails for them, except one whose worker was
 * lost as often as the ledger allows, and one whose replies are broken off again and again.
 */
function unexpectedFailures({ faults }: HistoryRun, { failures }: Endings): string[] {
  const workerLosses = faults.filter((name) => losesWorkers.has(name)).length
  const codes = faults.includes('failing_model') ? never : [...never, ...ofTheModel]
  const ours = failures.filter(({ errorCode, reason }) => {
    if (lostTooOften.test(reason)) return workerLosses < maxLost
    return codes.some((code) => errorCode.startsWith(code))
  })
  return ours.map(({ operationId, errorCode, reason }) => `operation ${operationId} failed: ${errorCode} ${reason}`)
}

/** A model that is away is waited for. Only replies that it breaks off leave an ask without an answer. */
function unexpectedlyUnanswered({ faults }: HistoryRun, events: readonly Event[]): string[] {
  if (faults.includes('failing_model')) return []
  const failed = events.filter(({ event }) => event === 'ask.failed')
  return failed.map(({ data }) => `ask ${String(data['ask_id'])} failed: ${JSON.stringify(data)}`)
}

export async function allEvents(runId: RunId, ledger: Pick<Ledger, 'readEvents'>): Promise<Event[]> {
  const all: Event[] = []
  for (;;) {
    const page = await ledger.readEvents(runId, { after: all.at(-1)?.seq ?? 0, limit: eventsPerPage })
    all.push(...page)
    if (page.length < eventsPerPage) return all
  }
}

const execute = promisify(execFile)

const parseAll = `
import ast, pathlib, sys
for folder in sys.argv[1:]:
    for path in pathlib.Path(folder).rglob("*.py"):
        ast.parse(path.read_bytes(), str(path))
`

/** Applies every run's patch to a copy of the source where there is git, and parses the result where there is Python. */
export async function checkPatches(
  source: GeneratedSource,
  patches: readonly { runId: RunId; patch: string }[],
): Promise<string[]> {
  if (lacks('git')) return []
  const folders: SourceFolder[] = []
  try {
    const violations: string[] = []
    for (const { runId, patch } of patches) {
      if (patch === '') continue
      const folder = await sourceFolder(source)
      folders.push(folder)
      await folder.apply(patch).catch((error: unknown) => violations.push(`run ${runId}: git apply: ${String(error)}`))
    }
    return [...violations, ...(await parseWithPython(folders))]
  } finally {
    await Promise.all(folders.map((folder) => folder.remove()))
  }
}

async function parseWithPython(folders: readonly SourceFolder[]): Promise<string[]> {
  if (folders.length === 0 || lacks('python3')) return []
  try {
    await execute('python3', ['-c', parseAll, ...folders.map(({ path }) => path)])
    return []
  } catch (error) {
    return [`the patched source does not parse: ${String(error).slice(-500)}`]
  }
}
