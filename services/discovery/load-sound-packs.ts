import { relative, sep } from 'node:path'
import type { FindableNodes } from '#bundles/findable-nodes.ts'
import { AppError } from '#domain/error.ts'
import { checkPacks, manifestOf } from './discover/check-packs.ts'
import {
  builtinQueries,
  defaultPack,
  listPackFolders,
  loadQueryPacks,
  type PackPlaces,
  type QueryPack,
} from './discover/query-pack.ts'
import { readManifest } from './discover/pack-manifest.ts'

/**
 * The packs that discovery works with, also those for references. One that does not compile, that would give other
 * nodes than it says, or that lies where none is looked for, starts no run: DISC_001, DISC_002, DISC_003 or DISC_005
 * with its file and line. That a pack is not the one its manifest records (DISC_004) is no reason: the cache is keyed
 * by its contents.
 */
export async function loadSoundPacks(places: PackPlaces): Promise<ReadonlyMap<string, QueryPack>> {
  await requireSoundPacks(places)
  return loadQueryPacks({ ...places, references: true })
}

/** What `loadSoundPacks` refuses of the user's own packs, without loading those of Remora. */
export async function requireSoundPacks({ userDir, name = defaultPack }: PackPlaces): Promise<void> {
  if (userDir === undefined) return
  const { faults } = await checkPacks(userDir, { complete: false, name })
  const counted = faults.filter(({ code, file }) => code !== 'DISC_004' && isOfPack(file, { userDir, name }))
  const [first] = counted
  if (first === undefined) return
  const others = counted.length === 1 ? '' : ` (and ${counted.length - 1} more: remora queries check)`
  const what = first.message.includes(first.file) ? first.message : `${first.file}:${first.line}: ${first.message}`
  throw new AppError(first.code, `${what}${others}`, { phase: 'discovery' })
}

/** A pack of another name may be unfinished work; how the folder is laid out concerns every name. */
function isOfPack(file: string, { userDir, name }: { userDir: string; name: string }): boolean {
  const [, pack] = relative(userDir, file).split(sep)
  return pack === undefined || pack === name
}

/**
 * What a bundle may name: the kinds and languages of all packs, whatever their name, of Remora and of the user. Kinds are
 * read from the recorded manifests; a pack without one is compiled. Throws DISC_001 or DISC_002 for a broken pack.
 */
export async function findableNodes({ userDir }: Pick<PackPlaces, 'userDir'>): Promise<FindableNodes> {
  const dirs = [builtinQueries, ...(userDir === undefined ? [] : [userDir])]
  const packs = (await Promise.all(dirs.map(listPackFolders))).flat()
  const kinds = await Promise.all(
    packs.map(async (pack) => {
      const recorded = await readManifest(pack.folder)
      return typeof recorded === 'string' ? (await manifestOf(pack)).kinds : recorded.kinds
    }),
  )
  return { nodeKinds: new Set(['file', ...kinds.flat()]), languages: new Set(packs.map(({ language }) => language)) }
}
