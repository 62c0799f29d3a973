import { execFile } from 'node:child_process'
import { lstat, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#domain/error.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import { gitEnv, hooksEnv } from '#platform/child-env.ts'
import { type Env, givenValue } from '#platform/env.ts'
import type { Step } from './merge-changes.ts'
import { requireGit } from '../run/take-patch.ts'
import { wordsOf } from '../wording.ts'

const execute = promisify(execFile)
/** Is enough for the list of a large repository's files. */
const maxOutputBytes = 256 * 1024 ** 2

/** Describes a checkout: `prefix` is our folder's path in it, empty or with a `/` at its end; git finds with the caller's `env` who they are. */
export type Checkout = { top: string; prefix: string; env: Env }

/** Throws CONFIG_003 unless `folder` lies in a git checkout, CONFIG_006 without git. Called before anything is written. */
export async function requireCheckout(folder: string, env: Env): Promise<Checkout> {
  await requireGit('--commit', givenValue(env, 'PATH') ?? '')
  const checkout = await checkoutAround(folder, env)
  if (checkout === undefined)
    throw new AppError('CONFIG_003', `--commit needs a git checkout, but ${folder} is in none`)
  return { ...checkout, env }
}

/** Finds where a folder lies in a git checkout: its top, and the path from there, which is empty or ends with `/`. */
async function checkoutAround(folder: string, env: Env): Promise<{ top: string; prefix: string } | undefined> {
  const running = { cwd: await realpath(folder), env: gitEnv(env) }
  const answer = await execute('git', ['rev-parse', '--show-toplevel', '--show-prefix'], running).catch(() => undefined)
  const [top = '', prefix = ''] = answer?.stdout.split('\n') ?? []
  return top === '' ? undefined : { top, prefix }
}

/** Throws WORK_002, before anything is written, for files with changes of the caller's own, which a commit would take, too. */
export async function requireCommittable(
  { top, prefix, env }: Checkout,
  steps: readonly Pick<Step, 'path' | 'isResult'>[],
  signal: AbortSignal,
): Promise<void> {
  const dirty = new Set(await statusOf(gitIn({ top, env }, signal)))
  const mixed = steps.filter(({ path, isResult }) => !isResult && dirty.has(`${prefix}${path}`)).map(({ path }) => path)
  if (mixed.length === 0) return
  const text = `nothing was written: these files have changes of yours that are not committed, which --commit would commit too`
  throw new AppError('WORK_002', `${text}:\n${mixed.join('\n')}`)
}

export type CommitOrder = {
  paths: readonly RepoPath[]
  message: string
  scratch: string
  signal: AbortSignal
}

/**
 * Commits the files at `paths` as they are in the working copy, and returns the commit's id; undefined when all of them are
 * committed already. Whatever else is staged or changed stays so. The repository's hooks run as usual. WORK_006 with git's or the
 * hook's words when it refuses; the files keep their changes.
 */
export async function commitChanges(checkout: Checkout, order: CommitOrder): Promise<string | undefined> {
  const git = gitIn(checkout, order.signal)
  const wanted = new Set(order.paths.map((path) => `${checkout.prefix}${path}`))
  const tracked = new Set(await git.list('ls-files', '-z'))
  const added = await existing(
    checkout.top,
    [...wanted].filter((path) => !tracked.has(path)),
  )
  const list = join(order.scratch, 'paths')
  const fromList = [`--pathspec-from-file=${list}`, '--pathspec-file-nul']
  const message = join(order.scratch, 'message')
  await writeFile(message, order.message)
  try {
    if (added.length > 0) {
      await writeFile(list, added.join('\0'))
      await git.run('add', '--intent-to-add', '--force', ...fromList) // a commit of paths takes only those that git knows
    }
    const changed = (await statusOf(git)).filter((path) => wanted.has(path))
    if (changed.length === 0) return undefined
    await writeFile(list, changed.join('\0'))
    await git.run('commit', '--quiet', '--only', '--file', message, ...fromList)
  } catch (cause) {
    await forget(checkout, added)
    order.signal.throwIfAborted()
    const text = `git does not commit the changes, which are in the files: ${wordsOf(cause)}`
    throw new AppError('WORK_006', text, { cause })
  }
  return (await git.run('rev-parse', 'HEAD')).trim()
}

type Git = ReturnType<typeof gitIn>

/** Runs git with the settings of the user and the repository, hooks included. Paths are no patterns. */
function gitIn({ top, env }: Pick<Checkout, 'top' | 'env'>, signal?: AbortSignal) {
  const run = async (...args: string[]): Promise<string> => {
    const options = { cwd: top, env: hooksEnv(env), maxBuffer: maxOutputBytes, ...(signal && { signal }) }
    return (await execute('git', ['--literal-pathspecs', ...args], options)).stdout
  }
  const list = async (...args: string[]) => (await run(...args)).split('\0').filter((entry) => entry !== '')
  return { run, list }
}

async function statusOf(git: Git): Promise<string[]> {
  const flags = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=all']
  return (await git.list('status', ...flags)).map((entry) => entry.slice(3))
}

async function existing(top: string, paths: readonly string[]): Promise<string[]> {
  const stats = await Promise.all(paths.map((path) => lstat(join(top, path)).catch(() => undefined)))
  return paths.filter((_path, at) => stats[at] !== undefined)
}

const forgottenAtOnce = 500

/** Git knows these files no more, as before; also after an interrupt. */
async function forget(checkout: Checkout, paths: readonly string[]): Promise<void> {
  const git = gitIn(checkout)
  for (let first = 0; first < paths.length; first += forgottenAtOnce) {
    const slice = paths.slice(first, first + forgottenAtOnce)
    await git.run('update-index', '--force-remove', '--', ...slice).catch(() => {})
  }
}
