import { join } from 'node:path'
import type { FindableNodes } from '#bundles/findable-nodes.ts'
import { AppError } from '#domain/error.ts'
import { programCache } from '#platform/program-cache.ts'
import { checkFilters, type DiscoveryFilters } from '#stages/discover/choose-files.ts'
import type { FolderOptions } from '#stages/discover/discover-folder.ts'
import { loadQueryPacks } from '#stages/discover/query-pack.ts'
import type { CliConfig } from '../cli-config.ts'

// Discovery in this process, with the settings and the query packs of this machine.

/** Says how a folder is discovered: `filters`, to whose `exclude` the settings' is added, and the index of earlier discoveries. */
export function folderOptions(filters: DiscoveryFilters, { discovery, queries, settings }: CliConfig): FolderOptions {
  const { exclude, maxFileBytes, threads } = discovery
  const cache = programCache(settings.own)
  return {
    filters: { ...filters, exclude: [...exclude, ...(filters.exclude ?? [])], maxFileBytes },
    packs: queries,
    threads,
    env: settings.own,
    ...(cache !== undefined && { indexDir: join(cache, 'discover') }),
  }
}

/** Refuses broken packs of the user as discovery does (DISC_001, DISC_002, DISC_003, DISC_005). Those of Remora are sound. */
export async function requirePacks(queries: CliConfig['queries']): Promise<void> {
  if (queries.userDir === undefined) return
  const { requireSoundPacks } = await import('../../services/discovery/load-sound-packs.ts')
  await requireSoundPacks(queries)
}

type Filters = { languages?: readonly string[] | undefined; kinds?: readonly string[] | undefined }

/** Refuses unknown languages and node kinds as wrong usage (DISC_003, DISC_001, RUN_002), and lists the known ones. */
export async function requireKnownFilters(
  { languages = [], kinds = [] }: Filters,
  { queries }: Pick<CliConfig, 'queries'>,
): Promise<void> {
  if (languages.length === 0 && kinds.length === 0) return
  const packs = await loadQueryPacks(queries)
  try {
    checkFilters({ languages, nodeKinds: kinds }, packs)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw new AppError(cause.code, cause.message, { cause, phase: 'usage' })
  }
}

/** Returns the languages and node kinds that a bundle may name on this machine. Throws DISC_001 or DISC_002 for a broken pack. */
export async function loadFindableNodes(queries: CliConfig['queries']): Promise<FindableNodes> {
  const { findableNodes } = await import('../../services/discovery/load-sound-packs.ts')
  return findableNodes(queries)
}
