import { undefinedOn } from '#domain/error.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { PatchKind, Run } from '#domain/run.ts'
import type { Composition, Conflict } from '#store/objects/composition.ts'
import type { ChangeRecords } from './find-sets.ts'

type Records = Pick<ChangeRecords, 'readComposition'>

/** Reads the patch as it was composed last after a decision; undefined where it was not, or has been replaced since the run was read. */
export async function readPatchOf(run: Run, of: PatchKind, records: Records): Promise<Composition | undefined> {
  const note = run.patches[of]
  if (note === undefined || !('compositionKey' in note)) return undefined
  return (await records.readComposition(run, note.compositionKey).catch(undefinedOn('STORE_003'))) ?? undefined
}

/**
 * Returns what compositions of the run have proved about change sets that cannot be in a patch. A set that breaks a file by itself does
 * so whatever is decided: that holds from every composition, unless the newest proposed patch has the set, since another one there
 * makes up for it. What the run's gate has found stays.
 */
export async function provedConflicts(run: Run, records: Records): Promise<Conflict[]> {
  const [first, proposed, accepted] = await Promise.all([
    records.readComposition(run),
    readPatchOf(run, 'proposed', records),
    readPatchOf(run, 'accepted', records),
  ])
  const sound = idsIn(proposed)
  const lasting = [proposed, accepted].flatMap((patch) => patch?.conflicts.filter(({ byItself }) => byItself) ?? [])
  return [...(first?.conflicts ?? []), ...lasting].filter(
    ({ changeSetId, byItself, errorCode }) =>
      byItself === undefined || errorCode === 'WORK_007' || !sound.has(changeSetId),
  )
}

/**
 * Counts the accepted change sets that the accepted patch leaves out, as it was composed last, or would leave out since they break a
 * file by themselves.
 */
export async function countAcceptedLeftOut(
  run: Run,
  composition: Composition | null | undefined,
  { records, read }: { records: Records; read(): Promise<Decisions> },
): Promise<number> {
  const patch = await readPatchOf(run, 'accepted', records)
  const broken = composition?.conflicts.filter(({ byItself }) => byItself) ?? []
  const leftOut = new Set([...broken, ...(patch?.conflicts ?? [])].map(({ changeSetId }) => changeSetId))
  if (leftOut.size === 0) return 0
  const [isIn, { byChangeSet }] = [idsIn(patch), await read()]
  return [...leftOut].filter((id) => byChangeSet.get(id)?.verdict === 'accepted' && !isIn.has(id)).length
}

function idsIn(patch: Composition | undefined): Set<string> {
  return new Set(patch?.files.flatMap(({ changeSetIds }) => changeSetIds))
}
