import { relative, sep } from 'node:path'
import { AppError } from '#domain/error.ts'
import { checkPacks } from './discover/check-packs.ts'
import { defaultPack } from './discover/pack-folders.ts'
import { loadQueryPacks, type PackPlaces, type QueryPack } from './discover/query-pack.ts'

/**
 * The packs that discovery works with, also those for references. One that does not compile, that would give other nodes
 * than it says, or that lies where none is looked for, starts no run: DISC_001, DISC_002, DISC_003 or DISC_005 with its
 * file and line. That a pack is not the one its manifest records (DISC_004) is no reason: the cache goes by what is in it.
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
