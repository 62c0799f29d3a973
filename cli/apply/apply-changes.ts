import type { PatchKind } from '#domain/run.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { changesWhere } from '../api-lists.ts'
import { isCurrent, rulesOf } from '../run/describe-decisions.ts'
import type { CliContext } from '../cli-context.ts'
import { fetchChanges, type ChangedFile } from './fetch-changes.ts'
import { mergeChanges, type RefusedFile, type Step, findFile } from './merge-changes.ts'
import { hunksIn, type LineSpan, touch } from './merge-files.ts'
import { writeChanges } from './write-changes.ts'
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#domain/error.ts'
import { gitEnv } from '#platform/child-env.ts'
import type { Env } from '#platform/env.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import { visible } from '../terminal-text.ts'
import { shownPath } from '../wording.ts'

type ApplyOrder = {
  runId: string
  of: PatchKind
  folder: string
  /** Is a folder for what is compared and merged. */
  scratch: string
  signal: AbortSignal
  beforeWriting?: (steps: readonly Step[]) => Promise<void>
}

/** Writes what a run changes into `folder`, merged with what has changed there since, or nothing: WORK_002 says of which files, and why. */
export async function applyChanges(
  client: Pick<ApiClient, 'listChanges' | 'readChangedFiles'>,
  { runId, of, folder, scratch, signal, beforeWriting }: ApplyOrder,
  { config, cwd }: Pick<CliContext, 'config' | 'cwd'>,
): Promise<Step[]> {
  const changes = await fetchChanges(client, { runId, of, scratch })
  await requireRunsFolder(folder, changes, { runId, cwd, env: config.settings.own })
  const describe = (refused: readonly RefusedFile[]) => nameCollidingSets(client, { runId, of }, refused)
  const steps = await mergeChanges(folder, changes, { scratch, searchPath: config.searchPath, describe })
  await beforeWriting?.(steps)
  signal.throwIfAborted()
  await writeChanges(folder, steps)
  return steps
}

const namedSets = 20

/** Names each change set that changes a place where the folder has changed, too, and the command without these. */
async function nameCollidingSets(
  client: Pick<ApiClient, 'listChanges'>,
  { runId, of }: { runId: string; of: PatchKind },
  refused: readonly RefusedFile[],
): Promise<string[]> {
  const spans = new Map(refused.flatMap(({ path, places }) => (places.length === 0 ? [] : [[path, places] as const])))
  if (spans.size === 0) return []
  const colliding = new Map<string, string>()
  for (const verdict of of === 'accepted' ? ['accepted'] : ['accepted', 'pending']) {
    for await (const change of changesWhere(client, runId, { verdict }, { context: 0 })) {
      if (!isCurrent(change) || change.conflict !== undefined) continue
      const line = lineOf(change, spans)
      if (line !== undefined) colliding.set(change.change_set_id, line)
    }
  }
  if (colliding.size === 0) return []
  const shown = [...colliding].slice(0, namedSets)
  const more = colliding.size > shown.length ? [`  … and ${colliding.size - shown.length} more`] : []
  const ids = shown.map(([id]) => id).join(' ')
  const without = of === 'accepted' ? 'undo' : 'reject'
  return [
    'There these change the same:',
    ...shown.map(([, line]) => `  ${line}`),
    ...more,
    `To go on without them: remora ${without} ${runId} ${ids} --with-dependents`,
  ]
}

/** `docstring shop.py price c0123456789abcdef (line 12)`: the line of the folder's file. */
function lineOf(change: ChangeView, spans: ReadonlyMap<string, RefusedFile['places']>): string | undefined {
  for (const [path, places] of spans) {
    const own = hunksOf(change.diff, path)
    const collision = places.find(({ base }) => own.some((span) => touch(span, base)))
    if (collision === undefined) continue
    const { agent, path: nodePath, qualified_name: name, change_set_id: id } = change
    return `${[agent, nodePlace(nodePath, name), ...rulesOf(change), id].join(' ')} (${path} line ${collision.line})`
  }
  return undefined
}

function hunksOf(diff: string, path: string): LineSpan[] {
  const files = diff.split(/^(?=diff --git )/m)
  const own = files.filter((file) => file.includes(`\n--- a/${path}\n`) || file.includes(`\n+++ b/${path}\n`))
  return own.flatMap((file) => hunksIn(file).map(({ before }) => before))
}

const execute = promisify(execFile)
const maxOutputBytes = 256 * 1024 ** 2
const namedFiles = 3
const mostAbove = 8
const mostBelow = 1_000

/** Throws WORK_002 when `folder` has none of the changed files, and names the folder that has all of them, if there is one around. */
async function requireRunsFolder(
  folder: string,
  changes: readonly ChangedFile[],
  { runId, cwd, env }: { runId: string; cwd: string; env: Env },
): Promise<void> {
  const edited = changes.filter(({ before, after }) => before !== null && after !== null).map(({ path }) => path)
  if (edited.length === 0 || (await hasSome(folder, edited))) return
  const names = edited.slice(0, namedFiles).join(', ')
  const more = edited.length > namedFiles ? ` and ${edited.length - namedFiles} more` : ''
  const other = await findRunsFolder(folder, edited, env)
  const advice =
    other === undefined
      ? 'name the folder that the run was made from, or a copy of it, with --to'
      : `they are in ${shownPath(other, cwd)}: remora apply ${runId} --to ${shownPath(other, cwd)}`
  const message = `nothing was written: ${shownPath(folder, cwd)} has none of the files that the run changes (${names}${more}); ${advice}`
  throw new AppError('WORK_002', visible(message), { advised: true })
}

/** Counts what cannot be looked at as there: the merge says more of it. */
async function hasSome(folder: string, paths: readonly RepoPath[]): Promise<boolean> {
  for (const path of paths) if ((await findFile(folder, path)) !== null) return true
  return false
}

async function hasAll(folder: string, paths: readonly RepoPath[]): Promise<boolean> {
  for (const path of paths) if ((await findFile(folder, path)) === null) return false
  return true
}

/** Finds the only folder below with all of these files (of those that git knows), or else the nearest one above. */
async function findRunsFolder(folder: string, paths: readonly RepoPath[], env: Env): Promise<string | undefined> {
  const ending = `/${paths[0] ?? ''}`
  const options = { cwd: folder, env: gitEnv(env), maxBuffer: maxOutputBytes }
  const listed = await execute('git', ['ls-files', '-z'], options).catch(() => undefined)
  const names = listed?.stdout
    .split('\0')
    .flatMap((name) => (name.endsWith(ending) ? name.slice(0, -ending.length) : []))
  const below: string[] = []
  for (const name of names ?? (await foldersIn(folder))) {
    const path = join(folder, name)
    if (await hasAll(path, paths)) below.push(path)
  }
  if (below.length > 0) return below.length === 1 ? below[0] : undefined
  let above = dirname(folder)
  for (let steps = 0; steps < mostAbove && above !== dirname(above); steps++) {
    if (await hasAll(above, paths)) return above
    above = dirname(above)
  }
  return undefined
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).slice(0, mostBelow)
}
