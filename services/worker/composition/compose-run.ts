import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { isErrorCode, type ErrorCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import type { Operation, OperationCost } from '#domain/operation.ts'
import type { CompositionProgress, Run } from '#domain/run.ts'
import { failRun } from '#ledger/run-stage.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { type Composition, conflictView, withoutTexts } from '#objects/composition.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getChangeSets, putComposition } from '#objects/stored-records.ts'
import { operationPages } from '#ledger/read-operations.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { ReadRunRules } from '../evidence/run-rules.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { conflictsByAgent, nameConflicts } from '#composition/name-conflicts.ts'
import { chainOf, changesOf } from '#composition/run-chain.ts'
import { proveComposition } from './prove-composition.ts'

export type CompositionDeps = {
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'listOperations' | 'move'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get' | 'put'>
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  runRules: ReadRunRules
  workerId: string
}

const noteEveryMs = 1_000
const atReview = { status: 'running', phase: 'review' } as const

/**
 * Ends a run whose operations have all ended: puts their change sets together, proves the result, stores it and
 * completes the run, or fails it when none of its operations succeeded or had nothing to change. Running it again, or
 * for a run that is not at that point, changes nothing. A fault that stays (a missing object) fails the run.
 */
export async function composeRun(runId: RunId, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  if (run.status !== 'running' || run.phase !== 'review') return
  try {
    await complete(run, deps, signal)
  } catch (error) {
    const stage = { phases: ['review'], origin: { kind: 'worker', id: deps.workerId }, signal } as const
    await failRun(runId, error, stage, deps.ledger)
  }
}

type Note = (progress: Partial<CompositionProgress>) => Promise<void>

/** Keeps in the run how far it is, at most once a second. What another worker noted, that has died, is overwritten. */
function openNotes({ runId, counts }: Run, { ledger }: Pick<CompositionDeps, 'ledger'>): Note {
  const composer = newToken()
  const operations = Object.values(counts).reduce((sum, count) => sum + count, 0)
  let progress: CompositionProgress = { operationsRead: 0, operations, filesProved: 0, files: 0 }
  let notes = 0
  let nextAt = -Infinity
  return async (more) => {
    progress = { ...progress, ...more }
    if (performance.now() < nextAt) return
    nextAt = performance.now() + noteEveryMs
    const command = `composing ${composer} ${(notes += 1)}`
    await ledger.move(runId, {
      from: [atReview],
      to: {},
      command,
      set: { composing: JSON.stringify(progress) },
      events: [],
    })
  }
}

async function complete(run: Run, deps: CompositionDeps, signal: AbortSignal): Promise<void> {
  const note = openNotes(run, deps)
  await note({})
  const collected = await collect(run, { ...deps, note }, signal)
  const { sets } = collected
  const files = new Set(sets.flatMap((set) => set.files.map(({ path }) => path))).size
  let filesProved = 0
  const proven = await proveComposition(sets, {
    evidence: deps.evidence,
    python: deps.python,
    rules: await deps.runRules(run),
    async readBlob(hash) {
      signal.throwIfAborted() // another worker may have the job by now, or the run be stopped
      return deps.blobs.get(run.projectId, hash)
    },
    async storeBlob(bytes) {
      signal.throwIfAborted()
      return deps.blobs.put(run.projectId, bytes)
    },
    onFiles: (count) => note({ files, filesProved: (filesProved += count) }),
  })
  const conflicts = await nameConflicts(proven.conflicts, {
    sets: new Map(sets.map((set) => [set.changeSetId, set])),
    nodes: collected.nodes,
    readBlob: (hash) => deps.blobs.get(run.projectId, hash),
  })
  const composition = { v: 1 as const, runId: run.runId, of: 'proposed' as const, files: proven.files, conflicts }
  const compositionKey = await putComposition(deps.objects, run.projectId, composition)
  const failure = failureOf(run, collected.codes)
  const events = closingEvents(run, { collected, composition, failure }, { kind: 'worker', id: deps.workerId })
  await deps.ledger.move(run.runId, {
    from: [atReview],
    to: { status: failure === undefined ? 'completed' : 'failed' },
    command: 'complete',
    set: { compositionKey, ...failure },
    events,
  })
}

type Collected = {
  sets: ChangeSet[]
  /** How many of the sets were made by the runs that this one retries. */
  earlier: number
  nodes: Map<string, CodeNode>
  totals: Pick<OperationCost, 'turns' | 'promptTokens' | 'completionTokens'>
  codes: CodesOfStatus
}

type CodesOfStatus = Record<'failed' | 'blocked', Map<ErrorCode, number>>

async function collect(run: Run, deps: CompositionDeps & { note: Note }, signal: AbortSignal): Promise<Collected> {
  const totals: Collected['totals'] = { turns: 0, promptTokens: 0, completionTokens: 0 }
  const codes: CodesOfStatus = { failed: new Map(), blocked: new Map() }
  const own = new Set<string>()
  const nodes: Collected['nodes'] = new Map()
  const sets: ChangeSet[] = []
  for await (const operations of operationPages(deps.ledger, run.runId)) {
    signal.throwIfAborted()
    for (const { operationId, status, outcome } of operations) {
      own.add(operationId)
      totals.turns += outcome?.turns ?? 0
      totals.promptTokens += outcome?.promptTokens ?? 0
      totals.completionTokens += outcome?.completionTokens ?? 0
      const code = outcome?.errorCode
      if ((status === 'failed' || status === 'blocked') && isErrorCode(code))
        codes[status].set(code, (codes[status].get(code) ?? 0) + 1)
    }
    sets.push(...(await readChangeSets(operations, { run, nodes }, deps.objects)))
    await deps.note({ operationsRead: own.size })
  }
  const earlier = await earlierSets(run, { redone: own, nodes }, deps, signal)
  return { sets: [...earlier, ...sets], earlier: earlier.length, nodes, totals, codes }
}

/** The change sets of the runs that this one retries, of operations that were not run again; the oldest first. */
async function earlierSets(
  run: Run,
  { redone, nodes }: { redone: ReadonlySet<string>; nodes: Collected['nodes'] },
  deps: CompositionDeps,
  signal: AbortSignal,
): Promise<ChangeSet[]> {
  const [, ...earlier] = await chainOf(run, deps.ledger)
  const sets: ChangeSet[] = []
  const done = new Set(redone)
  for (const { runId } of earlier) {
    const made: ChangeSet[] = []
    for await (const operations of operationPages(deps.ledger, runId)) {
      signal.throwIfAborted()
      const others = operations.filter(({ operationId }) => !done.has(operationId))
      for (const { operationId } of others) done.add(operationId)
      made.push(...(await readChangeSets(others, { run, nodes }, deps.objects)))
    }
    sets.unshift(...made)
  }
  return sets
}

/** Adds to `nodes` what the operations with a change set worked on. */
async function readChangeSets(
  operations: readonly Operation[],
  { run: { projectId }, nodes }: { run: Pick<Run, 'projectId'>; nodes: Collected['nodes'] },
  objects: ObjectStore,
): Promise<ChangeSet[]> {
  const changes = await changesOf(operations, (hash) => getChangeSets(objects, projectId, hash))
  for (const { operation } of changes) nodes.set(operation.operationId, operation.node)
  return changes.flatMap(({ sets }) => sets)
}

type RunFailure = { errorCode: ErrorCode; reason: string }

/**
 * The fault of a run in which no operation succeeded or was unchanged: the commonest code of its failed operations, or of
 * its blocked ones when none failed; of equally common codes, the first in the alphabet. Undefined for every other run,
 * also for one without operations.
 */
function failureOf({ counts }: Pick<Run, 'counts'>, codes: CodesOfStatus): RunFailure | undefined {
  const endings = (['failed', 'blocked', 'skipped'] as const).filter((status) => (counts[status] ?? 0) > 0)
  if (endings.length === 0 || (counts.succeeded ?? 0) + (counts.unchanged ?? 0) > 0) return undefined
  const most = codes.failed.size > 0 ? codes.failed : codes.blocked
  const [commonest] = [...most].toSorted(([one, times], [other, more]) => more - times || (one < other ? -1 : 1))
  const reason = `no operation ended well: ${endings.map((status) => `${counts[status]} ${status}`).join(', ')}`
  return { errorCode: commonest?.[0] ?? 'AGENT_011', reason }
}

/** An event lists no more conflicts than this; the composition has all. */
const namedConflicts = 50

type Closing = { collected: Collected; composition: Composition; failure: RunFailure | undefined }

function closingEvents(run: Run, { collected, composition, failure }: Closing, origin: EventOrigin): NewEvent[] {
  const { sets, earlier, totals } = collected
  const { files, conflicts } = composition
  const composed = {
    change_sets: sets.length,
    earlier_change_sets: earlier,
    files: files.length,
    conflicts: conflicts.slice(0, namedConflicts).map((one) => conflictView(withoutTexts(one))),
    conflicts_total: conflicts.length,
    conflicts_by_agent: conflictsByAgent(conflicts),
  }
  const ended = {
    operations: run.counts,
    change_sets: sets.length,
    files_changed: files.length,
    conflicts: conflicts.length,
    turns: totals.turns,
    prompt_tokens: totals.promptTokens,
    completion_tokens: totals.completionTokens,
  }
  const common = { phase: 'review', origin } as const
  const composedEvent: NewEvent = { ...common, event: 'run.composed', data: composed }
  if (failure === undefined) return [composedEvent, { ...common, event: 'run.completed', data: ended }]
  const { errorCode, reason } = failure
  const data = { error_code: errorCode, reason, ...ended }
  return [composedEvent, { ...common, event: 'run.failed', status: 'error', errorCode, data }]
}
