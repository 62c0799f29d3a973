import { relative, sep } from 'node:path'
import type { FindableNodes } from '#bundles/findable-nodes.ts'
import { AppError } from '#domain/error.ts'
import { checkPacks, manifestOf } from '#stages/discover/check-packs.ts'
import {
  builtinQueries,
  defaultPack,
  listPackFolders,
  loadQueryPacks,
  type PackPlaces,
  type QueryPack,
} from '#stages/discover/query-pack.ts'
import { readManifest } from '#stages/discover/pack-manifest.ts'

/**
 * Loads the packs, also those for references, and for what a run's survey needs. DISC_001, DISC_002, DISC_003 or DISC_005, with file and line, for one that does
 * not compile, gives other nodes than it declares, or is in a wrong folder. One that differs from its manifest (DISC_004) is
 * accepted: the cache is keyed by contents.
 */
export async function loadSoundPacks(places: PackPlaces): Promise<ReadonlyMap<string, QueryPack>> {
  await requireSoundPacks(places)
  return loadQueryPacks({ ...places, references: true, facts: true })
}

/** Checks the user's own packs as `loadSoundPacks` does, without loading those of Remora. */
export async function requireSoundPacks({ userDir, name = defaultPack }: PackPlaces): Promise<void> {
  if (userDir === undefined) return
  const { faults, unreadable } = await checkPacks(userDir, { complete: false, name })
  const counted = faults.filter(({ code, file }) => code !== 'DISC_004' && isOfPack(file, { userDir, name }))
  const [first] = counted
  if (first === undefined) return
  const others = counted.length === 1 ? '' : ` (and ${counted.length - 1} more: remora queries check)`
  const prefix = unreadable.has(first) ? '' : `${first.file}:${first.line}: `
  throw new AppError(first.code, `${prefix}${first.message}${others}`, { phase: 'discovery' })
}

/** A pack of another name may be unfinished work; how the folder is laid out concerns every name. */
function isOfPack(file: string, { userDir, name }: { userDir: string; name: string }): boolean {
  const [, pack] = relative(userDir, file).split(sep)
  return pack === undefined || pack === name
}

/** Reads the kinds and languages that a bundle may name. DISC_001 or DISC_002 for a broken pack. */
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
