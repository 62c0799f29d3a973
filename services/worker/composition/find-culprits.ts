import type { ChangeSet, TextCheck } from '#domain/change-set.ts'
import { type FileResult, inConflict } from '#composition/changes-at-path.ts'
import { composeChangeSets, type KnownSets, type LeftOutSet } from '#composition/compose-change-sets.ts'
import { neededFirst } from '#composition/independent-groups.ts'
import type { ComposedFile } from '#objects/composition.ts'
import { type ComposedModule, lostNameIn, wordsFor } from './composed-names.ts'
import {
  checksFor,
  type Contents,
  contentsOf,
  type FileProofDeps,
  isProved,
  moduleOf,
  type ProveFile,
} from './file-proofs.ts'

/** `known`: at least the sets of the composition. */
type CulpritDeps = { prove: ProveFile; known: KnownSets }

/** What some of the composed sets come to, with those that they are built on, which need not change the same files. */
function composePart(sets: readonly ChangeSet[], { known }: Pick<CulpritDeps, 'known'>): FileResult[] {
  const needed = sets.flatMap(({ builtOn = [] }) => builtOn.flatMap((id) => known.get(id) ?? []))
  return composeChangeSets([...new Set([...needed, ...sets])]).files
}

/** The set with which the file fails its checks and without which, the sets before it alone, it passes them. */
export async function fileCulprit(file: FileResult, deps: CulpritDeps): Promise<LeftOutSet> {
  const { path, sets } = file
  const { prove } = deps
  const all = checksFor(file)
  const first = (await prove(file, all)).evidence.find((one) => !one.ok)?.check
  // The others would only cost time: each takes tens of milliseconds on a large file.
  const failing = all.filter((check) => check === first)
  const checks = failing.length > 0 ? failing : all
  const failureOf = async (count: number) => {
    const part = composePart(sets.slice(0, count), deps).find((one) => one.path === path)
    return part && (await prove(part, checks)).evidence.find((one) => !one.ok)
  }
  const at = (await leastFailing(sets.length, async (count) => (await failureOf(count)) !== undefined)) - 1
  const [set, failed] = [sets[at], await failureOf(at + 1)]
  if (set === undefined || failed === undefined)
    throw new Error(`the composed file ${path} fails its checks, but none of its sets does`)
  const detail = failed.detail === undefined ? '' : `: ${failed.detail}`
  const partner = await findPartner(file, at, { ...deps, checks })
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

/** The earlier set that breaks the file together with the one at `index`, if there is a single one, or that it breaks it by itself. */
async function findPartner(
  file: FileResult,
  index: number,
  { prove, known, checks }: CulpritDeps & { checks: readonly TextCheck[] },
): Promise<Pick<LeftOutSet, 'with' | 'byItself'>> {
  const set = file.sets[index]
  const earlier = file.sets.slice(0, index)
  const breaks = async (sets: readonly ChangeSet[], of = checks) => {
    const part = composePart(sets, { known }).find((one) => one.path === file.path)
    return part !== undefined && !isProved(await prove(part, of))
  }
  if (set === undefined) return {}
  if (earlier.length === 0 || (await breaks([set], checksFor(file)))) return { byItself: true }
  const count = await leastFailing(earlier.length, (least) => breaks([...earlier.slice(0, least), set]))
  const partner = earlier[count - 1]
  return partner !== undefined && (await breaks([partner, set])) ? { with: inConflict(partner, file.path) } : {}
}

type ComposedGroup = { files: readonly ComposedFile[]; modules: readonly ComposedModule[] }

/** The set with which a changed file uses a name of another file that no longer binds it. */
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
      const file = files.find((one) => one.path === path)
      return moduleOf(path, await (file === undefined ? unchanged(baseHash, deps) : contentsOf(file, deps)), deps)
    })
    return lostNameIn((await Promise.all(parts)).flatMap((module) => module ?? []))
  }
  const lostWith = (count: number) => lostIn(involved.slice(0, count))
  const at = (await leastFailing(involved.length, async (count) => (await lostWith(count)) !== undefined)) - 1
  const [set, found] = [involved[at], await lostWith(at + 1)]
  if (set !== undefined && found !== undefined) {
    const out = leftOut(set, found.path, `${found.user} uses ${wordsFor(found)}, which this removes`)
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
