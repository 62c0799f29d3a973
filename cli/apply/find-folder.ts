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
import type { ChangedFile } from './fetch-changes.ts'
import { findFile } from './merge-changes.ts'

const execute = promisify(execFile)
const maxOutputBytes = 256 * 1024 ** 2
const namedFiles = 3
const mostAbove = 8
const mostBelow = 1_000

/** Throws WORK_002 when `folder` has none of the changed files, and names the folder that has all of them, if there is one around. */
export async function requireRunsFolder(
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
export async function findRunsFolder(
  folder: string,
  paths: readonly RepoPath[],
  env: Env,
): Promise<string | undefined> {
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
