import { applyEdits, type ChangeSet, type Evidence, type EvidenceCheck } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { ComposedFile } from '#objects/composition.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import { moduleNamesOf, moduleUsesOf } from '#python/module-uses.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { checksOfFile, type EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { RunRules } from '../evidence/run-rules.ts'
import {
  composeChangeSets,
  editedBytes,
  type FileResult,
  independentGroups,
  type LeftOutSet,
  type SetInConflict,
} from '#composition/compose-change-sets.ts'
import { type ComposedModule, lostNameIn, wordsFor } from './composed-names.ts'

export type ProofDeps = {
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
  /** Gives the proof of a group of sets that was made before under the key, or makes it. */
  proofs?: ((key: string, make: () => Promise<GroupProof>) => Promise<GroupProof>) | undefined
  /** The evidence of these checks on a file that just these sets have made before; undefined where one of them was not made. */
  provedBefore?: ProvedBefore | undefined
  /** Told how many more of the changed files are proved, or left as they were. */
  onFiles?(count: number): Promise<void>
}

export type ProvedBefore = (
  file: Pick<ComposedFile, 'path' | 'changeSetIds'>,
  checks: readonly EvidenceCheck[],
) => Evidence[] | undefined

export type Proven = { files: ComposedFile[]; conflicts: LeftOutSet[] }

/** Files wait for the object store and for Ruff; more at once would only take memory. */
const groupsAtOnce = 8

/**
 * Composes the sets, checks every composed file again, and then the names that the files use of each other: proof of
 * the parts is no proof of the whole. A set with which a check fails is left out as WORK_004, and what it touches is composed
 * again, no other file. Of two that fail only together, it is the later one. Conflicts are in the order of the sets.
 */
export async function proveComposition(sets: readonly ChangeSet[], deps: ProofDeps): Promise<Proven> {
  const groups = await mapBounded(independentGroups(sets), groupsAtOnce, async (group) => {
    const proof = await provedGroup(group, deps)
    await deps.onFiles?.(new Set(group.flatMap(({ files }) => files.map(({ path }) => path))).size)
    return proof
  })
  for (;;) {
    const culprit = await nameCulprit(sets, groups, deps)
    if (culprit === undefined) return together(sets, groups)
    const at = groups.findIndex(({ left }) => left.some((set) => set.changeSetId === culprit.changeSetId))
    const group = groups[at]
    if (group === undefined) throw new Error(`change set ${culprit.changeSetId} is in no composed file`)
    groups[at] = await proveGroup(without(group.left, culprit), deps, [...group.broken, culprit])
  }
}

/** A proof that was made before is used again, but its files are stored again: they may have been collected since. */
async function provedGroup(group: readonly ChangeSet[], deps: ProofDeps): Promise<GroupProof> {
  if (deps.proofs === undefined) return proveGroup(group, deps)
  let isNew = false
  const proof = await deps.proofs(proofKey(group), async () => {
    isNew = true
    return proveGroup(group, deps)
  })
  if (isNew) return proof
  for (const file of composeChangeSets(proof.left).files) {
    const { after } = await contentsOf(file, deps)
    if (after !== undefined) await deps.storeBlob(after)
  }
  return proof
}

/** What a proof depends on besides the rules: the changes, and the checks that they ask for. */
function proofKey(group: readonly ChangeSet[]): string {
  const parts = group.map(({ changeSetId, evidence }) => [
    changeSetId,
    evidence.map(({ check, of = '', path, ok }) => `${check} ${of} ${path} ${ok}`),
  ])
  return sha256(JSON.stringify(parts))
}

function together(sets: readonly ChangeSet[], groups: readonly GroupProof[]): Proven {
  const place = new Map(sets.map((set, at) => [set.changeSetId, at]))
  const placeOf = ({ changeSetId }: LeftOutSet) => place.get(changeSetId) ?? sets.length
  const conflicts = groups.flatMap((group) => [...group.conflicts, ...group.broken])
  return {
    files: groups.flatMap(({ files }) => files).toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    conflicts: conflicts.toSorted((one, other) => placeOf(one) - placeOf(other)),
  }
}

/** `left`: the sets of the group without the `broken` ones. */
export type GroupProof = Proven & {
  left: readonly ChangeSet[]
  broken: readonly LeftOutSet[]
  modules: ComposedModule[]
}

async function proveGroup(
  sets: readonly ChangeSet[],
  deps: ProofDeps,
  brokenBefore: readonly LeftOutSet[] = [],
): Promise<GroupProof> {
  const prove = openFileProofs(deps)
  const broken = [...brokenBefore]
  for (let left = sets; ;) {
    const { files, conflicts } = composeChangeSets(left)
    const proofs: FileProof[] = []
    let culprit: LeftOutSet | undefined
    for (const file of files) {
      const proof = await prove(file, checksFor(file))
      if (!isProved(proof)) culprit = await fileCulprit(file, prove)
      if (culprit !== undefined) break
      proofs.push(proof)
    }
    if (culprit === undefined) {
      const composed = await Promise.all(proofs.map((proof) => storeFile(proof, deps)))
      const modules = proofs.flatMap((proof) => moduleOf(proof.file.path, proof, deps) ?? [])
      return { left, broken, conflicts, files: composed, modules }
    }
    broken.push(culprit)
    left = without(left, culprit)
  }
}

function without(sets: readonly ChangeSet[], { changeSetId }: LeftOutSet): ChangeSet[] {
  return sets.filter((set) => set.changeSetId !== changeSetId)
}

/** Of one file; undefined where it does not exist. */
type Contents = { before: Buffer | undefined; after: Buffer | undefined }
type FileProof = Contents & { file: FileResult; evidence: Evidence[] }
type ProveFile = (file: FileResult, checks: readonly EvidenceCheck[]) => Promise<FileProof>

function isProved({ evidence }: FileProof): boolean {
  return evidence.every((one) => one.ok)
}

/** Caches the proof of a file by its sets: most files of a group stay the same when a set is left out. */
function openFileProofs(deps: ProofDeps): ProveFile {
  const known = new Map<string, Promise<FileProof>>()
  return (file, checks) => {
    const key = JSON.stringify([file.path, file.sets.map((set) => set.changeSetId), checks])
    const proof = known.get(key) ?? proofOf(file, checks, deps)
    known.set(key, proof)
    return proof
  }
}

async function proofOf(file: FileResult, checks: readonly EvidenceCheck[], deps: ProofDeps): Promise<FileProof> {
  const contents = await contentsOf(file, deps)
  const { before, after } = contents
  const { path, sets, executable } = file
  const known = deps.provedBefore?.({ path, changeSetIds: sets.map((set) => set.changeSetId) }, checks)
  if (known !== undefined) return { file, ...contents, evidence: known }
  const texts = { before: before?.toString(), after: after?.toString() }
  const checked = { path, ...texts, executable, rules: deps.rules.of(path) }
  return { file, ...contents, evidence: await deps.evidence.check(checked, checks) }
}

async function storeFile({ file, after, evidence }: FileProof, deps: ProofDeps): Promise<ComposedFile> {
  const { path, sets, executable } = file
  const changeSetIds = sets.map((set) => set.changeSetId)
  const baseHash = file.kind === 'create' ? null : file.baseHash
  return {
    path,
    baseHash,
    resultHash: after === undefined ? null : await deps.storeBlob(after),
    ...(executable === undefined ? {} : { executable }),
    changeSetIds,
    evidence,
  }
}

async function contentsOf(file: FileResult, deps: Pick<ProofDeps, 'readBlob'>): Promise<Contents> {
  if (file.kind === 'create') return { before: undefined, after: Buffer.from(file.content) }
  const before = Buffer.from(await deps.readBlob(file.baseHash))
  return { before, after: file.kind === 'edit' ? Buffer.from(applyEdits(before, file.edits)) : undefined }
}

/** Undefined for a file that is not Python. */
function moduleOf(path: string, { before, after }: Contents, { python }: ProofDeps): ComposedModule | undefined {
  if (languageOf(path) !== 'python') return undefined
  const text = after?.toString()
  return {
    path,
    before: before && python.read(before.toString(), moduleNamesOf),
    after: text === undefined ? undefined : python.read(text, (tree) => moduleUsesOf(tree, text)),
  }
}

/**
 * The checks of a composed file: all that were requested for any of its sets. `docstring_only` applies if every set
 * passed it; `only_node_changed` does not apply to a whole file.
 */
function checksFor({ path, sets, kind }: FileResult): EvidenceCheck[] {
  const own = sets.map((set) => set.evidence.filter((one) => one.path === path))
  const docstringsOnly = own.every((all) => all.some((one) => one.check === 'docstring_only' && one.ok))
  // Always for Python. A grammar of another language may not parse all valid code, so there the bundle decides.
  const always: EvidenceCheck[] = languageOf(path) === 'python' ? ['parses', 'lint_before_after'] : []
  const asked = own.flat().flatMap(({ check, of = [] }) => (check === 'not_checked' ? of : check))
  const checks = new Set(checksOfFile({ path, isDeleted: kind === 'delete' }, [...always, ...asked]))
  checks.delete('only_node_changed')
  checks.delete('docstring_only')
  return docstringsOnly ? [...checks, 'docstring_only'] : [...checks]
}

/** The set with which the file fails its checks and without which, the sets before it alone, it passes them. */
async function fileCulprit(file: FileResult, prove: ProveFile): Promise<LeftOutSet> {
  const { path, sets } = file
  const failureOf = async (count: number) => {
    const part = composeChangeSets(sets.slice(0, count)).files.find((one) => one.path === path)
    return part && (await prove(part, checksFor(file))).evidence.find((one) => !one.ok)
  }
  const at = (await leastFailing(sets.length, async (count) => (await failureOf(count)) !== undefined)) - 1
  const [set, failed] = [sets[at], await failureOf(at + 1)]
  if (set === undefined || failed === undefined)
    throw new Error(`the composed file ${path} fails its checks, but none of its sets does`)
  const detail = failed.detail === undefined ? '' : `: ${failed.detail}`
  const partner = await findPartner(file, at, prove)
  return { ...leftOut(set, path, `${failed.check} fails for the composed file${detail}`), ...partner }
}

/**
 * A count from 1 to `most` for which `fails` holds and does not for one less, found by halving. `fails` holds for `most`,
 * and does not for none.
 */
async function leastFailing(most: number, fails: (count: number) => Promise<boolean>): Promise<number> {
  let [passing, failing] = [0, most]
  while (failing - passing > 1) {
    const middle = (passing + failing) >> 1
    if (await fails(middle)) failing = middle
    else passing = middle
  }
  return failing
}

/** The earlier set that breaks the file together with the one at `index`; none when that one breaks it alone. */
async function findPartner(file: FileResult, index: number, prove: ProveFile): Promise<{ with?: SetInConflict }> {
  const set = file.sets[index]
  const earlier = file.sets.slice(0, index)
  const breaks = async (sets: readonly ChangeSet[]) => {
    const part = composeChangeSets(sets).files.find((one) => one.path === file.path)
    return part !== undefined && !isProved(await prove(part, checksFor(file)))
  }
  if (set === undefined || earlier.length === 0 || (await breaks([set]))) return {}
  const count = await leastFailing(earlier.length, (least) => breaks([...earlier.slice(0, least), set]))
  const partner = earlier[count - 1]
  return partner !== undefined && (await breaks([partner, set])) ? { with: inConflict(partner, file.path) } : {}
}

/** The set with which a changed file uses a name of another file that no longer binds it. */
async function nameCulprit(
  sets: readonly ChangeSet[],
  groups: readonly GroupProof[],
  deps: ProofDeps,
): Promise<LeftOutSet | undefined> {
  const lost = lostNameIn(groups.flatMap(({ modules }) => modules))
  if (lost === undefined) return undefined
  const pair = groups.flatMap(({ files }) => files.filter(({ path }) => path === lost.path || path === lost.user))
  const ids = new Set(pair.flatMap(({ changeSetIds }) => changeSetIds))
  const involved = sets.filter((set) => ids.has(set.changeSetId))
  const lostWith = async (count: number) => {
    const { files } = composeChangeSets(involved.slice(0, count))
    const parts = pair.map(async ({ path, baseHash }) => {
      const file = files.find((one) => one.path === path)
      return moduleOf(path, await (file === undefined ? unchanged(baseHash, deps) : contentsOf(file, deps)), deps)
    })
    return lostNameIn((await Promise.all(parts)).flatMap((module) => module ?? []))
  }
  const at = (await leastFailing(involved.length, async (count) => (await lostWith(count)) !== undefined)) - 1
  const [set, found] = [involved[at], await lostWith(at + 1)]
  if (set !== undefined && found !== undefined)
    return leftOut(set, found.path, `${found.user} uses ${wordsFor(found)}, which this removes`)
  throw new Error(`${lost.user} uses ${wordsFor(lost)}, which is lost, but none of the sets removes it`)
}

async function unchanged(hash: string | null, { readBlob }: Pick<ProofDeps, 'readBlob'>): Promise<Contents> {
  const content = hash === null ? undefined : Buffer.from(await readBlob(hash))
  return { before: content, after: content }
}

function leftOut(set: ChangeSet, path: string, reason: string): LeftOutSet {
  return { ...inConflict(set, path), path, errorCode: 'WORK_004', reason }
}

function inConflict(set: ChangeSet, path: string): SetInConflict {
  const bytes = editedBytes(set, path)
  return { changeSetId: set.changeSetId, operationId: set.operationId, ...(bytes && { bytes }) }
}
