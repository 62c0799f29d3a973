import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { laterCompositions, type PartNote } from '#domain/patch-note.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { getComposition } from '#store/objects/stored-records.ts'
import type { ComposedFile, Composition } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getPart } from '#store/objects/patch-part.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { setsTogether } from './sets-together.ts'
import type { ObjectAudit, NamedChangeSets } from './verify-records.ts'

const reads = 16

export type CompositionProofDeps = {
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get'>
  /** Undefined when it cannot be read: then modes are not checked. */
  snapshot: Pick<SnapshotView, 'find'> | undefined
  sets: NamedChangeSets
  /** The generation in which each set was made. */
  madeIn: ReadonlyMap<string, number>
  /** The change sets that somebody has decided on. */
  decided: ReadonlySet<string>
  /** Holds the change sets that an operation which ran once more has made anew. */
  replaced: ReadonlySet<string>
  audit: ObjectAudit
}

/**
 * Each change set must be in the composition of all changes as a whole, be left out with a reason, be made anew or decided on; each composed
 * file is made again from its base. Evidence is not checked again, nor WORK_004, which follows from it.
 */
export async function verifyCompositions(run: Run, deps: CompositionProofDeps): Promise<void> {
  const { compositionKey, patches } = run
  if (compositionKey === null && run.status === 'completed') {
    deps.audit.blame('the run is completed and names no composition')
  }
  const later = laterCompositions({ patches, parts: [] })
  for (const hash of new Set([compositionKey, ...later])) if (hash !== null) await verifyComposition(run, hash, deps)
  for (const note of run.parts) await verifyPart(run, note, deps)
}

/** A part of what was accepted has nothing else than its list says. */
async function verifyPart(run: Run, note: PartNote, deps: CompositionProofDeps): Promise<void> {
  const { audit } = deps
  if (!('compositionKey' in note)) return
  const { part, compositionKey } = note
  const listed = await audit.read('part', part, getPart(deps.objects, run, part))
  const carried = new Map(listed?.carried.map((set) => [set.changeSetId, set]))
  const composition = await verifyComposition(run, compositionKey, withCarried(deps, carried))
  if (listed === undefined || composition === undefined) return
  if (composition.part !== part) audit.blame(`composition: it is of part ${composition.part}, the run says ${part}`)
  const { files, conflicts } = composition
  const named = [...conflicts.map(({ changeSetId }) => changeSetId), ...files.flatMap((file) => file.changeSetIds)]
  for (const id of new Set(named))
    if (!listed.changeSetIds.includes(id) && !carried.has(id)) audit.blame(`part ${part}: ${id} is not in its list`)
}

/** Adds what an earlier run has made: no operation of this run made it, and it was decided on there. */
function withCarried(deps: CompositionProofDeps, carried: ReadonlyMap<string, ChangeSet>): CompositionProofDeps {
  if (carried.size === 0) return deps
  return {
    ...deps,
    sets: new Map([...deps.sets, ...carried]),
    decided: new Set([...deps.decided, ...carried.keys()]),
  }
}

async function verifyComposition(run: Run, hash: string, deps: CompositionProofDeps): Promise<Composition | undefined> {
  const { runId, projectId } = run
  const { blame } = deps.audit
  const reading = getComposition(deps.objects, { projectId, runId, hash })
  const composition = await deps.audit.read('composition', hash, reading)
  if (composition === undefined) return undefined
  if (composition.runId !== runId) blame(`composition: it is of run ${composition.runId}`)
  for (const fault of membershipFaults(composition, deps)) blame(`composition: ${fault}`)
  await mapBounded(composition.files, reads, (file) => verifyFile(run, file, deps))
  return composition
}

function membershipFaults(
  { of, generation = 1, files, conflicts }: Composition,
  { sets, madeIn, decided, replaced }: Pick<CompositionProofDeps, 'sets' | 'madeIn' | 'decided' | 'replaced'>,
): string[] {
  const faults: string[] = []
  const leftOut = new Set(conflicts.map((conflict) => conflict.changeSetId))
  const within = new Map(files.map((file) => [file.path, new Set(file.changeSetIds)]))
  const named = new Set([...leftOut, ...files.flatMap((file) => file.changeSetIds)])
  const present = new Set(files.flatMap((file) => file.changeSetIds))
  for (const id of present) {
    const lacking = (sets.get(id)?.builtOn ?? []).filter((needed) => !present.has(needed))
    for (const needed of lacking) faults.push(`${id} is in it without ${needed}, which it is built on`)
  }
  for (const id of named) if (!sets.has(id)) faults.push(`it names ${id}, which no operation of the run made`)
  if (of === 'accepted') {
    for (const id of named) if (!decided.has(id)) faults.push(`it names ${id}, on which nobody has decided`)
  }
  for (const [id, set] of sets) {
    if (set === null) continue
    const paths = set.files.map((file) => file.path)
    const where = [...within].filter(([, ids]) => ids.has(id)).map(([path]) => path)
    const foreign = where.filter((path) => !paths.includes(path))
    if (foreign.length > 0) faults.push(`it takes ${foreign.join(', ')} from ${id}, which does not change it`)
    if (leftOut.has(id) && where.length > 0) faults.push(`${id} is left out as a conflict and in ${where.join(', ')}`)
    const absent = paths.filter((path) => !where.includes(path))
    const isElsewhere = decided.has(id) || replaced.has(id) || (madeIn.get(id) ?? 1) > generation
    const mayMiss = absent.length === paths.length && (of === 'accepted' || isElsewhere)
    if (!leftOut.has(id) && !mayMiss && absent.length > 0)
      faults.push(`${id} is not in ${absent.join(', ')}, and no conflict says why`)
  }
  return faults
}

async function verifyFile(run: Run, file: ComposedFile, deps: CompositionProofDeps): Promise<void> {
  const { audit, sets, snapshot } = deps
  const what = `composed file ${file.path}`
  const made = file.changeSetIds.flatMap((id) => sets.get(id) ?? [])
  if (made.length !== file.changeSetIds.length) return // the missing sets are violations of their own
  const wasExecutable = snapshot?.find(file.path)?.executable
  const change = setsTogether(made, { path: file.path, wasExecutable })
  if (change === undefined) return audit.blame(`${what}: its change sets do not compose`)
  const baseHash = change.kind === 'create' ? null : change.baseHash
  if (file.baseHash !== baseHash) return audit.blame(`${what}: its base is not that of its change sets`)
  const isMode = snapshot === undefined || file.executable === change.executable
  if (!isMode) return audit.blame(`${what}: its mode is not that of its change sets`)
  const readBlob = (hash: string) => audit.read(what, hash, deps.blobs.get(run.projectId, hash))
  const base = baseHash === null ? new Uint8Array() : await readBlob(baseHash)
  if (base === undefined) return
  const result = resultOf(change, base)
  const resultHash = result === null ? null : sha256(result)
  if (resultHash !== file.resultHash) {
    return audit.blame(`${what}: its change sets come to ${resultHash}, the composition says ${file.resultHash}`)
  }
  if (file.resultHash !== null) await readBlob(file.resultHash)
}

function resultOf(change: FileChange, base: Uint8Array): Uint8Array | string | null {
  if (change.kind === 'delete') return null
  return change.kind === 'create' ? change.content : applyEdits(base, change.edits)
}
