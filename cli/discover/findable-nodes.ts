import { languages } from '#syntax/grammars.ts'
import { listPackFolders } from '../../services/discovery/discover/pack-folders.ts'
import { manifestOf } from '../../services/discovery/discover/pack-manifest.ts'
import { builtinQueries } from '../../services/discovery/discover/query-pack.ts'
import { readManifest } from '../../services/discovery/discover/recorded-manifest.ts'
import type { CliConfig } from '../config.ts'

/** What a bundle may name: the languages there are, and the kinds of nodes that the packs find. */
export type FindableNodes = { nodeKinds: ReadonlySet<string>; languages: ReadonlySet<string> }

/** From the packs' recorded manifests; one without is compiled. Throws what a broken pack is (DISC_001, DISC_002). */
export async function findableNodes({ userDir }: CliConfig['queries']): Promise<FindableNodes> {
  const dirs = [builtinQueries, ...(userDir === undefined ? [] : [userDir])]
  const packs = (await Promise.all(dirs.map(listPackFolders))).flat()
  const kinds = await Promise.all(
    packs.map(async (pack) => {
      const recorded = await readManifest(pack.folder)
      return typeof recorded === 'string' ? (await manifestOf(pack)).kinds : recorded.kinds
    }),
  )
  return { nodeKinds: new Set(['file', ...kinds.flat()]), languages: new Set(languages) }
}
