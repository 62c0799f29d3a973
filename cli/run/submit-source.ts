import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { type AcceptPolicy, type ErrorPolicyName, NotSentFile, maxNotSentFiles, type SkipKind } from '#domain/run.ts'
import { ignoredReason } from '#platform/walk-folder.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { packPath, type Packed } from '../pack-folder.ts'
import { changedNodes } from '../discover/compare-since.ts'
import { requireKnownFilters } from '../discover/local-discovery.ts'
import { shownPath } from '../wording.ts'
import { skippedLines } from './describe-run.ts'

type Texts = string[] | undefined

export type Submission = {
  /** Undefined of an objective: the plan is made with all agents. */
  agents: string[] | undefined
  objective?: string | undefined
  /** `plan`: a person approves the plan of the objective before anything of it is done. */
  approval?: 'plan' | undefined
  paths?: Texts
  exclude?: Texts
  languages?: Texts
  kinds?: Texts
  include?: SkipKind[] | undefined
  /** The value of `--since`: only nodes that were added or changed since then. */
  since?: string | undefined
  limit?: number | undefined
  budgetTokens?: number | undefined
  errorPolicy?: ErrorPolicyName | undefined
  priority?: number | undefined
  /** `auto`: the run accepts what has the evidence that its bundles ask for. */
  accept?: AcceptPolicy | undefined
  /** A command that must not get worse by the changes, and the bounds of its runs. */
  verify?: { command: string; runs: number; max_runs: number; limit_s: number } | undefined
  setup?: string | undefined
  /** The run ends once it is planned. */
  dryRun?: boolean | undefined
  folderOnly?: boolean | undefined
}

/** Names what is to be sent, and the nodes that the run is limited to, if any. */
export type PreparedSource = { packed: Packed; nodes?: string[] }

/**
 * Returns what is to be sent of `path`: listed, not yet read. What is left out is printed on stderr. Throws INTAKE_001 when there
 * is nothing at `path` (wrong usage) or neither a folder nor an archive, INTAKE_007 for a folder without files; for languages and
 * kinds the errors of `requireKnownFilters`, and with `since` those of `changedNodes`. Starts and writes nothing.
 */
export async function prepareSource(
  path: string,
  submission: Submission,
  context: CliContext,
): Promise<PreparedSource> {
  const { config, cwd, io, signal } = context
  const full = resolve(cwd, path)
  await stat(full).catch((cause: unknown) => {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (!isMissing) return
    throw new AppError('INTAKE_001', `there is no such file or folder: ${path}`, { cause, phase: 'usage' })
  })
  const { include, since } = submission
  // A remote service may know others, but changes since a revision are always found on this machine.
  if (config.apiUrl === undefined || since !== undefined) await requireKnownFilters(submission, config)
  const packed = await packPath(full, { signal, env: config.settings.own, ...(include && { include }) })
  io.err(notSentText(packed.skipped, `remora discover ${shownPath(full, cwd)} lists all`))
  if (since === undefined) return { packed }
  return { packed, nodes: await changedNodes(full, { ...submission, since }, context) }
}

function notSentText(skipped: Packed['skipped'], others: string): string {
  if (skipped.length === 0) return ''
  return visible([`not sent: ${skipped.length}`, ...skippedLines(skipped, others), ''].join('\n'))
}

/** Sends what was prepared, with what the run is to list as skipped, and returns the run's id. */
export async function submitSource(
  client: Pick<ApiClient, 'submit'>,
  submission: Submission,
  { packed, nodes }: PreparedSource,
): Promise<string> {
  const include = [...new Set([...(submission.include ?? []), ...packed.include])]
  // A name that the service takes for no path is only printed here. What is ignored is left out first where there is too much.
  const named = packed.skipped.filter((file) => NotSentFile.safeParse(file).success)
  const isIgnored = ({ reason }: NotSentFile) => Number(reason === ignoredReason)
  const not_sent = named.toSorted((left, right) => isIgnored(left) - isIgnored(right)).slice(0, maxNotSentFiles)
  const lists = { ...(include.length > 0 && { include }), ...(not_sent.length > 0 && { not_sent }) }
  const request = { ...requestOf(submission), nodes, ...lists }
  const accepted = await client.submit({ request, archive: packed.stream })
  return accepted.run_id
}

export type NamedRepository = { url: string; ref?: string | undefined }

export async function submitRepository(
  client: Pick<ApiClient, 'submitRepository'>,
  submission: Submission,
  repository: NamedRepository,
): Promise<string> {
  const { include } = submission
  const request = { ...requestOf(submission), ...(include && include.length > 0 && { include }) }
  return (await client.submitRepository({ ...request, repository })).run_id
}

function requestOf(submission: Submission) {
  const { agents, objective, approval, paths, exclude, languages, kinds: node_kinds } = submission
  const { limit, priority, accept, verify, setup } = submission
  const { errorPolicy: error_policy, dryRun: dry_run, budgetTokens: tokens } = submission
  const limits = limit === undefined ? undefined : { operations: limit }
  const budget = tokens === undefined ? undefined : { tokens }
  const filters = { agents, objective, approval, paths, exclude, languages, node_kinds }
  return { ...filters, limits, budget, error_policy, priority, accept, verify, setup, dry_run }
}
