import { asAppError, AppError } from '#domain/error.ts'
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
  const { checkFilters } = await import('../../services/discovery/discover/choose-files.ts')
  const { loadQueryPacks } = await import('../../services/discovery/discover/query-pack.ts')
  const packs = await loadQueryPacks(queries)
  try {
    checkFilters({ languages, nodeKinds: kinds }, packs)
  } catch (cause) {
    const { code, message } = asAppError(cause, 'RUN_002')
    throw new AppError(code, message, { cause, phase: 'usage' })
  }
}
