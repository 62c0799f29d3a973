import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import { packPath, type Packed } from '../pack-folder.ts'
import { changedNodes } from '../discover/changed-nodes.ts'
import { requireKnownFilters } from '../discover/known-filters.ts'
import { describeSkipped } from './describe-skipped.ts'

export type Submission = {
  agents: readonly string[]
  paths?: readonly string[]
  exclude?: readonly string[]
  languages?: readonly string[]
  kinds?: readonly string[]
  include?: readonly SkipKind[]
  /** Only nodes that were added or changed since then: what `--since` says. */
  since?: string
  limit?: number
  errorPolicy?: string
  priority?: number
  accept: 'none'
  /** The run ends when it is planned. */
  dryRun?: boolean
  /** The folder is sent without the repository around it. */
  folderOnly?: boolean
}

/** What there is to send, and the nodes that the run is limited to, if it is. */
export type PreparedSource = { packed: Packed; nodes?: readonly string[] }

/**
 * What there is to send of `path`: listed, not yet read. What is left out is printed on stderr. INTAKE_001 when there is
 * nothing at `path` (wrong usage) or nothing of use, INTAKE_007 when it is a folder without a file; as `requireKnownFilters`
 * says of languages and kinds, and `changedNodes` with `since`. Starts and writes nothing.
 */
export async function prepareSource(
  path: string,
  submission: Submission,
  context: CliContext,
): Promise<PreparedSource> {
  const { config, cwd, io, signal } = context
  const place = resolve(cwd, path)
  await stat(place).catch((cause: unknown) => {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (!isMissing) return
    throw new AppError('INTAKE_001', `there is no such file or folder: ${path}`, { cause, phase: 'usage' })
  })
  const { include, since } = submission
  // A service elsewhere may know others; what changed since a revision is found here in any case.
  if (config.apiUrl === undefined || since !== undefined) await requireKnownFilters(submission, config)
  const packed = await packPath(place, { signal, ...(include && { include }) })
  if (packed.skipped.length > 0) io.err(visible(`skipped ${describeSkipped(packed.skipped)}\n`))
  if (since === undefined) return { packed }
  return { packed, nodes: await changedNodes(place, { ...submission, since }, context) }
}

/** Sends what was prepared; answers the run's id. */
export async function submitSource(
  client: Pick<ApiClient, 'submit'>,
  submission: Submission,
  { packed, nodes }: PreparedSource,
): Promise<string> {
  const { agents, accept, paths, exclude, languages, kinds, limit, errorPolicy, priority } = submission
  const include = [...new Set([...(submission.include ?? []), ...packed.include])]
  const request = {
    agents,
    accept,
    ...(paths && { paths }),
    ...(exclude && { exclude }),
    ...(languages && { languages }),
    ...(kinds && { node_kinds: kinds }),
    ...(nodes && { nodes }),
    ...(include.length > 0 && { include }),
    ...(limit !== undefined && { limits: { operations: limit } }),
    ...(errorPolicy !== undefined && { error_policy: errorPolicy }),
    ...(priority !== undefined && { priority }),
    ...(submission.dryRun === true && { dry_run: true }),
  }
  const accepted = await client.submit({ request, archive: packed.stream })
  return accepted.run_id
}
