import { isDeepStrictEqual } from 'node:util'
import { readAccepted } from '#change-sets/accepted-sets.ts'
import { patchNoteOf } from '#change-sets/ask-patch.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError, asAppError, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { laterCompositions, type PartId, type PatchNote } from '#domain/patch-note.ts'
import { isEnded, type PatchKind, type Run, type WantedPatch } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import { patchLimitMs } from '#store/ledger/delete-run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ComposedEvidence, Composition } from '#store/objects/composition.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getPart } from '#store/objects/patch-part.ts'
import { getComposition } from '#store/objects/stored-records.ts'
import { collectChanges, type CollectDeps, selectProposed, setsOf } from './collect-changes.ts'
import type { ProvedBefore } from './file-proofs.ts'
import { throughGate, type ThroughGateDeps, withReasons } from './gate/through-gate.ts'
import { type ProveDeps, proveSets, type SelectedSets } from './prove-sets.ts'

export type PatchDeps = ProveDeps &
  CollectDeps &
  Pick<ThroughGateDeps, 'programs'> & {
    ledger: CollectDeps['ledger'] &
      Pick<
        Ledger,
        'beginPatching' | 'endPatching' | 'getRun' | 'notePart' | 'notePatch' | 'operationsOfSets' | 'readDecisions'
      >
  }

/** Composes a patch of what was decided by now, or a part of it, and notes it, or its fault, in the run. A fault that may pass is thrown. */
export async function composePatch(
  { runId, ...wanted }: { runId: RunId } & WantedPatch,
  deps: PatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  if (wanted.of === 'proposed' && !isEnded(run.status)) return
  const decisions = await deps.ledger.readDecisions(runId)
  const decided = decisions.last
  const before = patchNoteOf(run, wanted)
  if (before !== undefined && 'compositionKey' in before && before.decided === decided) return
  const making = await deps.ledger.beginPatching(run)
  try {
    const own = AbortSignal.any([signal, AbortSignal.timeout(patchLimitMs)])
    const selected = await selectSets(run, wanted, { decisions, deps, signal: own })
    const compositions = await readCompositions(run, deps.objects)
    const isAccepted = (id: string) => decisions.byChangeSet.get(id)?.verdict === 'accepted'
    const { sets, gated } = withoutGated(selected.sets, { of: wanted.of, compositions, isAccepted })
    const selection = { ...wanted, ...selected, sets, gated, provedBefore: provedIn(compositions) }
    const { compositionKey } = await proveGated(run, selection, { deps, compositions, signal: own })
    await noteInRun(run, wanted, { decided, compositionKey }, deps)
  } catch (cause) {
    signal.throwIfAborted()
    const error = asAppError(cause, 'TOOL_004')
    if (error.retry) throw error
    const fault = { decided, errorCode: error.code, reason: error.message, at: Date.now() }
    await noteInRun(run, wanted, fault, deps)
  } finally {
    await deps.ledger.endPatching(making)
  }
}

/** Keeps in the run what became of a patch, and deletes what nothing refers to any more since. */
async function noteInRun(
  run: Run,
  { of, part }: WantedPatch,
  note: PatchNote,
  { ledger, objects }: Pick<PatchDeps, 'ledger' | 'objects'>,
): Promise<void> {
  const { projectId, runId } = run
  const compositionKey = 'compositionKey' in note ? note.compositionKey : undefined
  if (part === undefined) {
    await ledger.notePatch(runId, { of, note })
    if (compositionKey !== undefined) await removeFormer(run, run.patches[of], compositionKey, objects)
    return
  }
  const gone = await ledger.notePart(runId, { ...note, part })
  if (gone === 'older') return
  // No two parts have the same composition, which names its part.
  const compositions = gone.flatMap((noted) =>
    noted.compositionKey === '' || noted.compositionKey === compositionKey ? [] : noted.compositionKey,
  )
  const lists = gone.flatMap((noted) => (noted.part === part ? [] : noted.part))
  await objects.deleteMany([
    ...compositions.map((hash) => objectKeys.composition(projectId, runId, hash)),
    ...lists.map((hash) => objectKeys.patchPart(projectId, runId, hash)),
  ])
}

/** Reads the compositions of the run that are there: of all its changes, and of its patches. */
async function readCompositions({ projectId, runId, compositionKey, patches }: Run, objects: ObjectStore) {
  const keys = new Set([compositionKey, ...laterCompositions({ patches, parts: [] })].filter((key) => key !== null))
  const read = await Promise.all(
    [...keys].map((hash) => getComposition(objects, { projectId, runId, hash }).catch(undefinedOn('STORE_003'))),
  )
  return read.filter((composition) => composition !== undefined)
}

type Gating = { deps: PatchDeps; compositions: readonly Composition[]; signal: AbortSignal }

/** Is the part of a patch's time that is left for its gate when everything else is slow. */
const gateLimitS = (patchLimitMs * 0.8) / 1_000

/**
 * Proves the sets as `proveSets` does. What the gate has proved does not prove a part of it: for what it has not seen it runs again. What it
 * cannot prove in its time stays: people have accepted it.
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
  const result = { ...report, leftOut: culprits.size, ...(!isWhole && { verdict: 'unproved' as const }) }
  return proveSets(run, { ...selection, sets, gated: { report: result, leftOut: left, collided } }, deps, signal)
}

function setsIn({ files }: Composition): ReadonlySet<string> {
  return new Set(files.flatMap(({ changeSetIds }) => changeSetIds))
}

type Judging = { of: PatchKind; compositions: readonly Composition[]; isAccepted(changeSetId: string): boolean }

/** Leaves out what the run's gate left out or had not seen, but for what somebody has accepted that breaks no test by itself. */
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
  const evidence = new Map<string, ComposedEvidence[]>()
  for (const { files } of compositions) {
    for (const file of files) evidence.set(nameOf(file.path, file.changeSetIds), file.evidence)
  }
  return ({ path, changeSetIds }, checks) => {
    const made = evidence.get(nameOf(path, changeSetIds)) ?? []
    const proofs = checks.map((check) => made.find((proof) => proof.check === check || proof.of === check))
    return proofs.every((proof) => proof !== undefined) ? proofs : undefined
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
  const others = Object.fromEntries(Object.entries(patches).filter(([, note]) => note !== former))
  const used = [first, compositionKey, ...laterCompositions({ patches: others, parts: [] })]
  if (used.includes(former.compositionKey)) return
  await objects.deleteMany([objectKeys.composition(projectId, runId, former.compositionKey)])
}

type Selecting = { decisions: Decisions; deps: PatchDeps; signal: AbortSignal }

async function selectSets(
  run: Run,
  { of, part }: WantedPatch,
  { decisions, deps, signal }: Selecting,
): Promise<Pick<SelectedSets, 'sets' | 'others' | 'nodeOf'>> {
  if (part !== undefined) return selectPart(run, part, { decisions, deps })
  if (of === 'accepted') return readAccepted(run, decisions, deps)
  const { changes, nodes } = await collectChanges(run, deps, signal)
  const sets = selectProposed(changes, decisions).map(({ set }) => set)
  return { sets, others: setsOf(changes), nodeOf: async (id) => nodes.get(id) }
}

/** RUN_004 when the run has not made one of the sets, WORK_003 when one is not accepted, WORK_002 when one lacks what it is built on. */
async function selectPart(
  run: Run,
  part: PartId,
  { decisions, deps }: Omit<Selecting, 'signal'>,
): Promise<Pick<SelectedSets, 'sets' | 'nodeOf'>> {
  const { changeSetIds, carried } = await getPart(deps.objects, run, part)
  const ids = new Set(changeSetIds)
  const own = [...decisions.byChangeSet].filter(([id, { verdict }]) => ids.has(id) && verdict === 'accepted')
  const accepted = new Map(own)
  for (const id of ids) {
    if (accepted.has(id)) continue
    const [maker] = await deps.ledger.operationsOfSets(run.runId, [id])
    if (maker === undefined) throw unknownSet(id)
    throw new AppError('WORK_003', `The change set ${id} is not accepted.`)
  }
  const read = await readAccepted(run, { ...decisions, byChangeSet: accepted }, deps)
  const made = new Set(read.sets.map(({ changeSetId }) => changeSetId))
  for (const id of ids) if (!made.has(id)) throw unknownSet(id)
  for (const { changeSetId, builtOn = [] } of read.sets) {
    const missing = builtOn.find((id) => !ids.has(id))
    if (missing !== undefined)
      throw new AppError('WORK_002', `The change set ${changeSetId} is built on ${missing}, which is not in the part.`)
  }
  // Last, so that of two that collide the run's own is in the patch.
  return { ...read, sets: [...read.sets, ...carried] }
}

function unknownSet(id: string): AppError {
  return new AppError('RUN_004', `No change set of the run is named "${id}".`)
}
