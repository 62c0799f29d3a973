import { isDeepStrictEqual } from 'node:util'
import { chainOf } from '#composition/run-chain.ts'
import type { KnownSets } from '#composition/compose-change-sets.ts'
import { nameConflicts } from '#composition/name-conflicts.ts'
import type { ChangeSet, Evidence } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { asAppError, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { PatchKind, PatchNote, Run } from '#domain/run.ts'
import type { Decisions } from '#ledger/decisions.ts'
import { patchLimitMs } from '#ledger/delete-run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import type { Composition } from '#objects/composition.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getComposition, putComposition } from '#objects/stored-records.ts'
import type { CachedAnswers } from '#platform/cached-answers.ts'
import type { ReadRunRules } from '../evidence/run-rules.ts'
import { collectChanges, type CollectDeps, readAccepted, selectProposed, setsOf } from './collect-changes.ts'
import { type ProvedBefore, readComposed } from './file-proofs.ts'
import type { ReadFile } from '../evidence/samples-match.ts'
import type { SnapshotPrograms } from '../tools/programs/attempt-programs.ts'
import { type Gated, throughGate, type ThroughGateDeps, withReasons } from './gate/through-gate.ts'
import { type GroupProof, proveComposition, type ProofDeps } from './prove-composition.ts'

export type ProveDeps = Pick<ProofDeps, 'evidence' | 'python'> & {
  /** Keeps proofs from one composition to the next. */
  proofs?: CachedAnswers<GroupProof>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get' | 'put'>
  runRules: ReadRunRules
  /** For checks that read other files than the changed one. */
  programs?: Pick<SnapshotPrograms, 'snapshot'>
}

/** What is to be composed, and the node of each operation that may be named. */
export type SelectedSets = {
  of: PatchKind
  sets: readonly ChangeSet[]
  nodeOf(operationId: string): Promise<CodeNode | undefined>
  /** Change sets that may be named besides: those on which some of `sets` are built. */
  others?: KnownSets | undefined
  /** What other compositions of the run have proved. */
  provedBefore?: ProvedBefore | undefined
  /** The run whose survey of the repository holds; by default the run itself. */
  rulesOf?: Run | undefined
  /** Sets that are not to be composed, since the run's gate left them out, or has not seen them, and what it found. */
  gated?: Pick<Gated, 'leftOut' | 'collided' | 'report'> | undefined
  /** What the composition keeps of all that was made, by what it leaves out. */
  madeOf?(conflicts: Composition['conflicts']): Composition['made']
  /** Told how many of the changed files are proved, of how many. */
  onFiles?(proved: number, files: number): Promise<void>
}

function treeOf(
  { projectId, snapshotId }: Run,
  { sets, others, readBlob }: Pick<SelectedSets, 'sets' | 'others'> & Pick<ProofDeps, 'readBlob'>,
  { programs }: ProveDeps,
): ReadFile | undefined {
  if (programs === undefined || snapshotId === null) return undefined
  const known = new Map([...(others ?? []), ...sets.map((set) => [set.changeSetId, set] as const)])
  return readComposed(sets, { known, readBlob, snapshot: () => programs.snapshot(projectId, snapshotId) })
}

/** Composes and proves change sets of a run, and stores the result, which the key names. */
export async function proveSets(
  run: Run,
  { of, sets, nodeOf, others, onFiles, provedBefore, gated, madeOf, rulesOf = run }: SelectedSets,
  deps: ProveDeps,
  signal: AbortSignal,
): Promise<{ composition: Composition; compositionKey: string }> {
  const { projectId, runId } = run
  const { proofs } = deps
  const files = new Set(sets.flatMap((set) => set.files.map(({ path }) => path))).size
  let proved = 0
  await onFiles?.(0, files)
  const readBlob = async (hash: string) => {
    signal.throwIfAborted() // another worker may have the job by now, or the run be stopped
    return deps.blobs.get(projectId, hash)
  }
  const proven = await proveComposition(sets, {
    evidence: deps.evidence,
    python: deps.python,
    proofs: proofs && ((key, make) => proofs.get(`${projectId} ${rulesOf.rulesKey} ${key}`, make)),
    rules: await deps.runRules(rulesOf),
    provedBefore,
    others,
    readBlob,
    readFileOf: (own) => treeOf(run, { sets: own, others, readBlob }, deps),
    async storeBlob(bytes) {
      signal.throwIfAborted()
      return deps.blobs.put(projectId, bytes)
    },
    onFiles: async (count) => onFiles?.((proved += count), files),
  })
  const leftOut = [...proven.conflicts, ...(gated?.leftOut ?? [])]
  const nodes = new Map<string, CodeNode>()
  for (const { operationId, with: other } of leftOut) {
    for (const id of [operationId, other?.operationId]) {
      const node = id === undefined || nodes.has(id) ? undefined : await nodeOf(id)
      if (id !== undefined && node !== undefined) nodes.set(id, node)
    }
  }
  const named = await nameConflicts(leftOut, {
    sets: new Map([...(others ?? []), ...sets.map((set) => [set.changeSetId, set] as const)]),
    nodes,
    readBlob: (hash) => deps.blobs.get(projectId, hash),
  })
  const conflicts = [...named, ...(gated?.collided ?? [])]
  const made = madeOf?.(conflicts)
  const gate = gated?.report
  const kept = { ...(made && { made }), ...(gate && { gate }) }
  const composition: Composition = { v: 1, runId, of, files: proven.files, conflicts, ...kept }
  return { composition, compositionKey: await putComposition(deps.objects, projectId, composition) }
}

export type PatchDeps = ProveDeps &
  CollectDeps &
  Pick<ThroughGateDeps, 'programs'> & {
    ledger: CollectDeps['ledger'] & Pick<Ledger, 'beginPatching' | 'endPatching' | 'notePatch' | 'readDecisions'>
  }

/**
 * Composes a patch of a run from what was decided by now, and notes it in the run, or the fault for which that is not possible.
 * Changes nothing when the run has that patch. A fault that may pass is thrown.
 */
export async function composePatch(
  { runId, of }: { runId: RunId; of: PatchKind },
  deps: PatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  const chain = await chainOf(run, deps.ledger)
  const decisions = await deps.ledger.readDecisions((chain.at(-1) ?? run).runId)
  const decided = decisions.last
  const before = run.patches[of]
  if (before !== undefined && 'compositionKey' in before && before.decided === decided) return
  const making = await deps.ledger.beginPatching(run)
  try {
    const own = AbortSignal.any([signal, AbortSignal.timeout(patchLimitMs)])
    const selected = await selectSets(chain, of, { decisions, deps, signal: own })
    const rulesOf = chain.find(({ rulesKey }) => rulesKey !== null)
    const compositions = await readCompositions(run, deps.objects)
    const isAccepted = (id: string) => decisions.byChangeSet.get(id)?.verdict === 'accepted'
    const { sets, gated } = withoutGated(selected.sets, { of, compositions, isAccepted })
    const selection = { of, ...selected, sets, gated, rulesOf, provedBefore: provedIn(compositions) }
    const { compositionKey } = await proveGated(run, selection, { deps, compositions, signal: own })
    await deps.ledger.notePatch(runId, { of, note: { decided, compositionKey } })
    await removeFormer(run, before, compositionKey, deps.objects)
  } catch (cause) {
    signal.throwIfAborted()
    const error = asAppError(cause, 'TOOL_004')
    if (error.retry) throw error
    await deps.ledger.notePatch(runId, {
      of,
      note: { decided, errorCode: error.code, reason: error.message, at: Date.now() },
    })
  } finally {
    await deps.ledger.endPatching(making)
  }
}

/** Those of the run that are there: of all its changes, and of its patches. */
async function readCompositions({ projectId, runId, compositionKey, patches }: Run, objects: ObjectStore) {
  const later = Object.values(patches).flatMap((note) => ('compositionKey' in note ? note.compositionKey : []))
  const keys = new Set([compositionKey, ...later].filter((key) => key !== null))
  const read = await Promise.all(
    [...keys].map((hash) => getComposition(objects, projectId, { runId, hash }).catch(undefinedOn('STORE_003'))),
  )
  return read.filter((composition) => composition !== undefined)
}

type Gating = { deps: PatchDeps; compositions: readonly Composition[]; signal: AbortSignal }

/** Of the time of a patch, what is left for its gate when everything else is slow. */
const gateLimitS = (patchLimitMs * 0.8) / 1_000

/**
 * As `proveSets`. A part of what the run's gate has proved is not proved by that: of an accepted patch that no gate has seen as it is, and of
 * a proposed one with a set that it has not seen, the gate runs again, and what makes a test fail that passed is left out. What it cannot
 * prove in its time, people have accepted.
 */
async function proveGated(run: Run, selection: SelectedSets, { deps, compositions, signal }: Gating) {
  const proved = await proveSets(run, selection, deps, signal)
  const { gated, of } = selection
  const own = setsIn(proved.composition)
  const judged = compositions.filter(({ gate }) => gate !== undefined).map(setsIn)
  const isSeen = judged.some((seen) =>
    of === 'proposed' ? [...own].every((id) => seen.has(id)) : isDeepStrictEqual(seen, own),
  )
  if (isSeen) return proved
  const composed = { sets: selection.sets, composition: proved.composition, memory: { results: new Map() } }
  const onRun = async () => {}
  const verdict = await throughGate(run, { ...composed, limitS: gateLimitS }, { ...deps, onRun }, signal)
  if (verdict === undefined) return proved
  const { culprits, leftOut, report } = verdict
  const collided = [...(gated?.collided ?? []), ...verdict.collided]
  const out = new Set([...culprits, ...collided.map(({ changeSetId }) => changeSetId)])
  const sets = selection.sets.filter(({ changeSetId }) => !out.has(changeSetId))
  const left = [...(gated?.leftOut ?? []), ...leftOut.filter(({ changeSetId }) => culprits.has(changeSetId))]
  const isWhole = leftOut.length === culprits.size
  const said = { ...report, leftOut: culprits.size, ...(!isWhole && { verdict: 'unproved' as const }) }
  return proveSets(run, { ...selection, sets, gated: { report: said, leftOut: left, collided } }, deps, signal)
}

function setsIn({ files }: Composition): ReadonlySet<string> {
  return new Set(files.flatMap(({ changeSetIds }) => changeSetIds))
}

type Judging = { of: PatchKind; compositions: readonly Composition[]; isAccepted(changeSetId: string): boolean }

/**
 * What the run's gate left out, or had not seen since it collided, stays out of every later patch, but for what somebody has accepted that
 * breaks no test by itself.
 */
function withoutGated(
  sets: readonly ChangeSet[],
  { of, compositions, isAccepted }: Judging,
): Pick<SelectedSets, 'sets' | 'gated'> {
  const judged = compositions.find(({ gate }) => gate !== undefined)
  if (judged?.gate === undefined) return { sets, gated: undefined }
  const among = new Set(sets.map(({ changeSetId }) => changeSetId))
  const out = judged.conflicts.filter(({ changeSetId, errorCode, byItself }) => {
    const isCulprit = errorCode === 'WORK_007' && byItself === true
    return among.has(changeSetId) && (isCulprit || (of === 'proposed' && !isAccepted(changeSetId)))
  })
  const ids = new Set(out.map(({ changeSetId }) => changeSetId))
  const collided = out.filter(({ errorCode }) => errorCode !== 'WORK_007')
  const leftOut = out
    .filter(({ errorCode }) => errorCode === 'WORK_007')
    .map(({ changeSetId, operationId, path, errorCode, reason, byItself }) => {
      return { changeSetId, operationId, path, errorCode, reason, ...(byItself && { byItself }) }
    })
  return {
    sets: sets.filter(({ changeSetId }) => !ids.has(changeSetId)),
    gated: { leftOut, collided: withReasons(collided, (id) => ids.has(id) || !among.has(id)), report: judged.gate },
  }
}

function provedIn(compositions: readonly Composition[]): ProvedBefore {
  const nameOf = (path: string, ids: readonly string[]) => JSON.stringify([path, ...ids.toSorted()])
  const evidence = new Map<string, Evidence[]>()
  for (const { files } of compositions) {
    for (const file of files) evidence.set(nameOf(file.path, file.changeSetIds), file.evidence)
  }
  return ({ path, changeSetIds }, checks) => {
    const made = evidence.get(nameOf(path, changeSetIds)) ?? []
    const found = checks.map((check) => made.find((one) => one.check === check || one.of === check))
    return found.every((one) => one !== undefined) ? found : undefined
  }
}

/** Nothing refers to the composition of a former patch any more, unless another patch of the run is the same. */
async function removeFormer(
  { projectId, runId, compositionKey: first, patches }: Run,
  former: PatchNote | undefined,
  compositionKey: string,
  objects: ObjectStore,
): Promise<void> {
  if (former === undefined || !('compositionKey' in former)) return
  const others = Object.values(patches).filter((note) => note !== former)
  const used = [
    first,
    compositionKey,
    ...others.flatMap((note) => ('compositionKey' in note ? note.compositionKey : [])),
  ]
  if (used.includes(former.compositionKey)) return
  await objects.deleteMany([objectKeys.composition(projectId, runId, former.compositionKey)])
}

type Selecting = { decisions: Decisions; deps: PatchDeps; signal: AbortSignal }

async function selectSets(
  chain: readonly [Run, ...Run[]],
  of: PatchKind,
  { decisions, deps, signal }: Selecting,
): Promise<Omit<SelectedSets, 'of'>> {
  if (of === 'accepted') return readAccepted(chain, decisions, deps)
  const { changes, nodes } = await collectChanges(chain, deps, signal)
  const sets = selectProposed(changes, decisions).map(({ set }) => set)
  return { sets, others: setsOf(changes), nodeOf: async (id) => nodes.get(id) }
}
