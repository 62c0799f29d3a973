import type { ChangeSet, Evidence } from '#domain/change-set.ts'
import { isTextCheck } from '#domain/checks.ts'
import { type FileResult, inConflict } from '#change-sets/changes-at-path.ts'
import { composeChangeSets, type KnownSets, type LeftOutSet } from '#change-sets/compose-change-sets.ts'
import { neededFirst, withNeeded } from '#change-sets/independent-groups.ts'
import type { ComposedFile } from '#store/objects/composition.ts'
import { type ComposedModule, lostNameIn, wordsFor } from './composed-names.ts'
import { type Contents, contentsOf } from './contents-of.ts'
import { type FileProofDeps, moduleOf, type ProveFile } from './file-proofs.ts'

/** `proveIn`: in a tree with the changes of these sets alone, and of those that they are built on. */
type CulpritDeps = { prove: ProveFile; proveIn(sets: readonly ChangeSet[]): ProveFile; known: KnownSets }

/** Composes some of the sets with those that they are built on, which need not change the same files. */
function composePart(sets: readonly ChangeSet[], { known }: Pick<CulpritDeps, 'known'>): FileResult[] {
  return composeChangeSets(withNeeded(sets, known)).files
}

/** Returns the set with which the file fails its checks and without which it passes them. `byItself` is said of one that was tried alone. */
export async function fileCulprit(file: FileResult, deps: CulpritDeps): Promise<LeftOutSet> {
  const { path, sets } = file
  const first = (await deps.prove(file)).evidence.find((proof) => !proof.ok)?.check
  // The other checks would only cost time: each takes tens of milliseconds on a large file.
  const only = first !== undefined && isTextCheck(first) ? first : undefined
  const faultOf = async (some: readonly ChangeSet[]) => {
    const part = composePart(some, deps).find((result) => result.path === path)
    return part && (await deps.prove(part, only)).evidence.find((proof) => !proof.ok)
  }
  const breaks = async (some: readonly ChangeSet[]) => (await faultOf(some)) !== undefined
  const at = (await leastFailing(sets.length, (count) => breaks(sets.slice(0, count)))) - 1
  const [set, fault] = [sets[at], await faultOf(sets.slice(0, at + 1))]
  if (set === undefined || fault === undefined)
    throw new Error(`the composed file ${path} fails its checks, but none of its sets does`)
  const ownFault = await faultByItself(set, path, deps)
  if (ownFault !== undefined) return { ...leftOut(set, path, faultText(ownFault, 'fails')), byItself: true }
  const out = leftOut(set, path, faultText(fault, 'fails for the composed file'))
  const partner = await findPartner(set, sets.slice(0, at), breaks)
  return partner === undefined ? out : { ...out, with: inConflict(partner, path) }
}

function faultText({ check, detail }: Evidence, fails: string): string {
  return `${check} ${fails}${detail === undefined ? '' : `: ${detail}`}`
}

async function faultByItself(set: ChangeSet, path: string, deps: CulpritDeps): Promise<Evidence | undefined> {
  const alone = composePart([set], deps).find((file) => file.path === path)
  return alone && (await deps.proveIn([set])(alone)).evidence.find((proof) => !proof.ok)
}

/** Finds by halving a count for which `fails` holds and does not for one less. */
async function leastFailing(most: number, fails: (count: number) => Promise<boolean>): Promise<number> {
  let [passing, failing] = [0, most]
  while (failing - passing > 1) {
    const middle = (passing + failing) >> 1
    if (await fails(middle)) failing = middle
    else passing = middle
  }
  return failing
}

async function findPartner(
  set: ChangeSet,
  earlier: readonly ChangeSet[],
  breaks: (sets: readonly ChangeSet[]) => Promise<boolean>,
): Promise<ChangeSet | undefined> {
  // Then it is a change of another file.
  if (earlier.length === 0 || (await breaks([set]))) return undefined
  const count = await leastFailing(earlier.length, (least) => breaks([...earlier.slice(0, least), set]))
  const partner = earlier[count - 1]
  return partner !== undefined && (await breaks([partner, set])) ? partner : undefined
}

type ComposedGroup = { files: readonly ComposedFile[]; modules: readonly ComposedModule[] }

/** Returns the set with which a changed file uses a name that another file no longer binds. */
export async function nameCulprit(
  sets: readonly ChangeSet[],
  groups: readonly ComposedGroup[],
  deps: FileProofDeps & Pick<CulpritDeps, 'known'>,
): Promise<LeftOutSet | undefined> {
  const lost = lostNameIn(groups.flatMap(({ modules }) => modules))
  if (lost === undefined) return undefined
  const pair = groups.flatMap(({ files }) => files.filter(({ path }) => path === lost.path || path === lost.user))
  const ids = new Set(pair.flatMap(({ changeSetIds }) => changeSetIds))
  const involved = neededFirst(sets.filter((set) => ids.has(set.changeSetId)))
  const lostIn = async (part: readonly ChangeSet[]) => {
    const files = composePart(part, deps)
    const parts = pair.map(async ({ path, baseHash }) => {
      const file = files.find((result) => result.path === path)
      return moduleOf(path, await (file === undefined ? unchanged(baseHash, deps) : contentsOf(file, deps)), deps)
    })
    return lostNameIn((await Promise.all(parts)).flatMap((module) => module ?? []))
  }
  const lostWith = (count: number) => lostIn(involved.slice(0, count))
  const at = (await leastFailing(involved.length, async (count) => (await lostWith(count)) !== undefined)) - 1
  const [set, gone] = [involved[at], await lostWith(at + 1)]
  if (set !== undefined && gone !== undefined) {
    const out = leftOut(set, gone.path, `with it, ${gone.user} uses ${wordsFor(gone)}, which is gone`)
    return (await lostIn([set])) === undefined ? out : { ...out, byItself: true }
  }
  throw new Error(`${lost.user} uses ${wordsFor(lost)}, which is lost, but none of the sets removes it`)
}

async function unchanged(hash: string | null, { readBlob }: Pick<FileProofDeps, 'readBlob'>): Promise<Contents> {
  const content = hash === null ? undefined : Buffer.from(await readBlob(hash))
  return { before: content, after: content }
}

function leftOut(set: ChangeSet, path: string, reason: string): LeftOutSet {
  return { ...inConflict(set, path), path, errorCode: 'WORK_004', reason }
}
