import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import { packPath, type Packed } from '../pack-folder.ts'
import { describeSkipped } from './describe-skipped.ts'

export type Submission = {
  agents: readonly string[]
  paths?: readonly string[]
  languages?: readonly string[]
  include?: readonly SkipKind[]
  limit?: number
  errorPolicy?: string
  priority?: number
  accept: 'none'
}

/**
 * What there is to send of `path`: listed, not yet read, and what is left out told on stderr. INTAKE_001 when there is
 * nothing or nothing of use at `path`, INTAKE_007 when it is a folder without a file. Starts and writes nothing.
 */
export async function packSource(
  path: string,
  { include }: Pick<Submission, 'include'>,
  { cwd, io, signal }: CliContext,
): Promise<Packed> {
  const place = resolve(cwd, path)
  await stat(place).catch((error: unknown) => {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isMissing) throw new AppError('INTAKE_001', `there is no such file or folder: ${path}`, { cause: error })
  })
  const packed = await packPath(place, { signal, ...(include && { include }) })
  if (packed.skipped.length > 0) io.err(visible(`skipped ${describeSkipped(packed.skipped)}\n`))
  return packed
}

/** Sends what was packed; answers the run's id. */
export async function submitSource(client: ApiClient, submission: Submission, packed: Packed): Promise<string> {
  const { agents, accept, paths, languages, limit, errorPolicy, priority } = submission
  const include = [...new Set([...(submission.include ?? []), ...packed.include])]
  const request = {
    agents,
    accept,
    ...(paths === undefined ? {} : { paths }),
    ...(languages === undefined ? {} : { languages }),
    ...(include.length === 0 ? {} : { include }),
    ...(limit === undefined ? {} : { limits: { operations: limit } }),
    ...(errorPolicy === undefined ? {} : { error_policy: errorPolicy }),
    ...(priority === undefined ? {} : { priority }),
  }
  const accepted = await client.submit({ request, archive: packed.stream })
  return accepted.run_id
}
