import { AppError } from '#domain/error.ts'
import { checkFilters } from '../../services/discovery/discover/choose-files.ts'
import { loadQueryPacks } from '../../services/discovery/discover/query-pack.ts'
import type { CliContext } from '../cli-context.ts'

type Filters = { languages?: readonly string[]; kinds?: readonly string[] }

/**
 * Languages and kinds of nodes that the query packs of this machine do not know, as wrong usage, before anything is started:
 * DISC_003, DISC_001 or RUN_002 as discovery would say them, with what there is.
 */
export async function requireKnownFilters(
  { languages = [], kinds = [] }: Filters,
  { queries }: Pick<CliContext['config'], 'queries'>,
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
