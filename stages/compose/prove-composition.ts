import { type ChangeSet, checkOf } from '#domain/change-set.ts'
import { checkRow } from '#domain/checks.ts'
import { sha256 } from '#domain/ids.ts'
import { byPath } from '#domain/repo-path.ts'
import { composeChangeSets, type KnownSets, type LeftOutSet } from '#change-sets/compose-change-sets.ts'
import { independentGroups, withNeeded } from '#change-sets/independent-groups.ts'
import type { ComposedFile } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { ReadFile } from '#stages/operate/evidence/python-facts.ts'
import type { ComposedModule } from './composed-names.ts'
import { contentsOf } from './contents-of.ts'
import {
  type FileProof,
  type FileProofDeps,
  isProved,
  isSameCode,
  moduleOf,
  openFileProofs,
  storeFile,
} from './file-proofs.ts'
import { fileCulprit, nameCulprit } from './find-culprits.ts'

export type ProofDeps = Omit<FileProofDeps, 'readFile'> & {
  /** Reads files of the repository with the changes of these sets, for checks that look at more than one file. */
  readFileOf?(sets: readonly ChangeSet[]): ReadFile | undefined
  /** Gives the proof of a group of sets that was made before under the key, or makes it. */
  proofs?: ((key: string, make: () => Promise<GroupProof>) => Promise<GroupProof>) | undefined
  /** Change sets that are not to be composed, but may be named. */
  others?: KnownSets | undefined
  /** Is told how many more of the changed files are proved, or left as they were. */
  onFiles?(count: number): Promise<void>
}

export type Proven = { files: ComposedFile[]; conflicts: LeftOutSet[] }

/** Files wait for the object store and for Ruff; more at once would only take memory. */
const groupsAtOnce = 8

/**
 * Composes the sets and checks every composed file, and the names that files use of each other: proof of the parts is no proof of the whole.
 * A set with which a check fails is left out (WORK_004); of two that fail only together, the later one. Conflicts are in the order of the
 * sets. What depends on other files is checked once more when sets were left out.
 */
export async function proveComposition(sets: readonly ChangeSet[], options: ProofDeps): Promise<Proven> {
  const first = await proveTogether(sets, options)
  const out = new Set(first.conflicts.map(({ changeSetId }) => changeSetId))
  const left = sets.filter(({ changeSetId }) => !out.has(changeSetId))
  if (out.size === 0 || !left.some(isProvedByOthers)) return first
  const { onFiles: _, ...quiet } = options
  const again = await proveComposition(left, { ...quiet, others: knownOf(options, sets) })
  return { files: again.files, conflicts: inOrder([...first.conflicts, ...again.conflicts], sets) }
}

function isProvedByOthers({ evidence }: ChangeSet): boolean {
  return evidence.some((proof) => checkRow(checkOf(proof)).reads === 'other files')
}

export function knownOf({ others }: Pick<ProofDeps, 'others'>, sets: readonly ChangeSet[]): KnownSets {
  return new Map([...(others ?? []), ...sets.map((set) => [set.changeSetId, set] as const)])
}

async function proveTogether(sets: readonly ChangeSet[], options: ProofDeps): Promise<Proven> {
  const deps = { ...options, known: knownOf(options, sets), readFile: options.readFileOf?.(sets) }
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

type KnowingDeps = ProofDeps & Pick<FileProofDeps, 'readFile'> & { known: KnownSets }

/** A proof that was made before is used again, but its files are stored again: they may have been collected since. */
async function provedGroup(group: readonly ChangeSet[], deps: KnowingDeps): Promise<GroupProof> {
  if (deps.proofs === undefined || group.some(isProvedByOthers)) return proveGroup(group, deps)
  let isNew = false
  const proof = await deps.proofs(proofKey(group, deps), async () => {
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

/** Hashes what a proof depends on besides the rules: the changes, what they are built on, and the checks that they ask for. */
function proofKey(group: readonly ChangeSet[], { known }: KnowingDeps): string {
  const parts = group.map(({ changeSetId, builtOn = [], evidence }) => [
    changeSetId,
    builtOn.map((id) => `${id} ${known.has(id)}`),
    evidence.map(({ check, of = '', path, ok }) => `${check} ${of} ${path} ${ok}`),
  ])
  return sha256(JSON.stringify(parts))
}

function together(sets: readonly ChangeSet[], groups: readonly GroupProof[]): Proven {
  const conflicts = groups.flatMap((group) => [...group.conflicts, ...group.broken])
  return {
    files: groups.flatMap(({ files }) => files).toSorted(byPath),
    conflicts: inOrder(conflicts, sets),
  }
}

function inOrder(conflicts: readonly LeftOutSet[], sets: readonly ChangeSet[]): LeftOutSet[] {
  const positions = new Map(sets.map((set, at) => [set.changeSetId, at]))
  const placeOf = ({ changeSetId }: LeftOutSet) => positions.get(changeSetId) ?? sets.length
  return conflicts.toSorted((left, right) => placeOf(left) - placeOf(right))
}

/** `left`: the sets of the group without the `broken` ones. */
export type GroupProof = Proven & {
  left: readonly ChangeSet[]
  broken: readonly LeftOutSet[]
  modules: ComposedModule[]
}

async function proveGroup(
  sets: readonly ChangeSet[],
  deps: KnowingDeps,
  brokenBefore: readonly LeftOutSet[] = [],
): Promise<GroupProof> {
  const { known } = deps
  const prove = openFileProofs(deps)
  const proveIn = (alone: readonly ChangeSet[]) => {
    const readFile = deps.readFileOf?.(withNeeded(alone, known))
    return openFileProofs({ ...deps, readFile })
  }
  const broken = [...brokenBefore]
  for (let left = sets; ;) {
    const { files, conflicts } = composeChangeSets(left, known)
    const proofs: FileProof[] = []
    let culprit: LeftOutSet | undefined
    for (const file of files) {
      const proof = await prove(file)
      if (!isProved(proof)) culprit = await fileCulprit(file, { prove, proveIn, known })
      if (culprit !== undefined) break
      proofs.push(proof)
    }
    if (culprit === undefined) {
      const composed = await Promise.all(proofs.map((proof) => storeFile(proof, deps)))
      const modules = proofs.flatMap((proof) =>
        isSameCode(proof) ? [] : (moduleOf(proof.file.path, proof, deps) ?? []),
      )
      return { left, broken, conflicts, files: composed, modules }
    }
    broken.push(culprit)
    left = without(left, culprit)
  }
}

function without(sets: readonly ChangeSet[], { changeSetId }: LeftOutSet): ChangeSet[] {
  return sets.filter((set) => set.changeSetId !== changeSetId)
}
