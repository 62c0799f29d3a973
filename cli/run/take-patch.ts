import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { AppError } from '#domain/error.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { gitEnv } from '#platform/child-env.ts'
import type { Env } from '#platform/env.ts'
import { findProgram } from '#platform/run-program.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import type { PatchResult } from '../progress/patch-lines.ts'
import { findRunsFolder } from '../apply/find-folder.ts'
import { patchedFolder } from '../discover/repository-around.ts'
import { writeWhole } from './output-file.ts'
import { shownPath, wordsOf } from '../wording.ts'

const execute = promisify(execFile)

export type PatchOrder = {
  path: string
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string | undefined
  apply: boolean
  /** This command submitted the run from `path`. An earlier run may have been made from another folder. */
  isNew: boolean
}

/** Writes the patch of a completed run, and applies it if that was asked for; undefined when it changes nothing. */
export async function takePatch(
  client: Pick<ApiClient, 'readPatch'>,
  run: Pick<RunView, 'run_id' | 'request'>,
  order: PatchOrder,
  { cwd, env }: Pick<CliContext, 'cwd'> & { env: Env },
): Promise<PatchResult> {
  const content = await client.readPatch(run.run_id, run.request.accept === 'auto' ? 'accepted' : 'proposed')
  if (content === undefined) return undefined
  const target = resolve(cwd, order.out ?? `remora-${run.run_id}.patch`)
  await writeWhole(target, content)
  const named = resolve(cwd, order.path)
  const folder = order.isNew ? named : await patchedFolder(named, run.request)
  if (order.apply) await applyPatch(folder, target, env)
  const written = { path: shownPath(target, cwd), applied: order.apply }
  const isThere = order.isNew || order.apply || (await fitsFolder(folder, target, env))
  const patched = isThere ? folder : await fittingFolder(folder, target, env)
  if (patched !== undefined) return { ...written, hint: await applyHint(patched, target, { cwd, env }) }
  return { ...written, hint: applyElsewhereHint(target), elsewhere: true as const }
}

/** Applies the whole of `patch` to `folder`, or nothing: WORK_002 when it does not fit, CONFIG_003 when git may not. */
export async function applyPatch(folder: string, patch: string, env: Env): Promise<void> {
  const { cwd, args } = await applyCommand(folder, patch, env)
  const running = { cwd, env: gitEnv(env) }
  const kept = `the patch is kept in ${patch}`
  await execute('git', ['apply', '--check', ...args], running).catch((cause: unknown) => {
    throw new AppError('WORK_002', `the patch does not fit ${folder}: ${wordsOf(cause)}; ${kept}`, { cause })
  })
  await execute('git', ['apply', ...args], running).catch((cause: unknown) => {
    throw new AppError('CONFIG_003', `the files of ${folder} cannot be changed: ${wordsOf(cause)}; ${kept}`, { cause })
  })
}

/** Is true when the whole of `patch` would apply to `folder` as it is. */
export async function fitsFolder(folder: string, patch: string, env: Env): Promise<boolean> {
  const { cwd, args } = await applyCommand(folder, patch, env)
  return execute('git', ['apply', '--check', ...args], { cwd, env: gitEnv(env) }).then(
    () => true,
    () => false,
  )
}

/** So many files, from the first bytes of the patch, are enough to know a folder by. */
const mostLookedFor = 20
const headBytes = 1024 ** 2

/** Returns the folder below or above that has the files which the patch changes, and to which it applies. */
async function fittingFolder(folder: string, patch: string, env: Env): Promise<string | undefined> {
  const head = await text(createReadStream(patch, { end: headBytes - 1 }))
  const changed = [...head.matchAll(/^diff --git a\/(.+) b\/\1\n(?!new file)/gm)].slice(0, mostLookedFor)
  const names = changed.flatMap(([, path]) => RepoPath.safeParse(path).data ?? [])
  const fitting = names.length === 0 ? undefined : await findRunsFolder(folder, names, env)
  return fitting !== undefined && (await fitsFolder(fitting, patch, env)) ? fitting : undefined
}

/** Returns `applyCommand` as a line to paste into a shell in folder `cwd`; for an archive, in the folder it unpacks to. */
export async function applyHint(
  folder: string,
  patch: string,
  { cwd: from, env }: { cwd: string; env: Env },
): Promise<string> {
  if (!(await isFolder(folder))) {
    return `${applyElsewhereHint(patch)}  # in the folder that ${basename(folder)} unpacks to`
  }
  const { cwd, args } = await applyCommand(folder, patch, env)
  const at = relative(await realpath(from), cwd)
  const short = args.map((arg) => (arg === resolve(patch) && at === '' ? relative(from, arg) : arg))
  return ['git', ...(at === '' ? [] : ['-C', at]), 'apply', ...short].map(quoted).join(' ')
}

/** Returns a command for the folder of the run, which is not known here: it asks git where in a larger repository it runs. */
export function applyElsewhereHint(patch: string): string {
  return `git apply --directory="$(git rev-parse --show-prefix 2>/dev/null)" ${quoted(resolve(patch))}`
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Returns arguments and folder of `git apply`. Inside a larger repository it runs at the top: in a subfolder git skips every file silently. */
async function applyCommand(folder: string, patch: string, env: Env): Promise<{ cwd: string; args: string[] }> {
  const { top, prefix } = (await checkoutAround(folder, env)) ?? { top: '', prefix: '' }
  if (prefix === '') return { cwd: await realpath(folder), args: [resolve(patch)] }
  return { cwd: top, args: [`--directory=${prefix.replace(/\/$/, '')}`, resolve(patch)] }
}

/** Finds where a folder lies in a git checkout: its top, and the path from there, which is empty or ends with `/`. */
export async function checkoutAround(folder: string, env: Env): Promise<{ top: string; prefix: string } | undefined> {
  const running = { cwd: await realpath(folder), env: gitEnv(env) }
  const answer = await execute('git', ['rev-parse', '--show-toplevel', '--show-prefix'], running).catch(() => undefined)
  const [top = '', prefix = ''] = answer?.stdout.split('\n') ?? []
  return top === '' ? undefined : { top, prefix }
}

/** Throws CONFIG_003 unless `path` is a folder, CONFIG_006 without git. Called before any work, so that `--apply` cannot fail at the end. */
export async function requireAppliable(path: string, searchPath: string): Promise<void> {
  if (!(await isFolder(path))) throw new AppError('CONFIG_003', `--apply needs a folder, but ${path} is not one`)
  await requireGit('--apply', searchPath)
}

/** Throws CONFIG_006 without git, which `what` needs. */
export async function requireGit(what: string, searchPath: string): Promise<void> {
  if ((await findProgram('git', searchPath)) !== undefined) return
  throw new AppError('CONFIG_006', `${what} needs git, which is not on the PATH: "remora doctor" says how to get it`)
}

export async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() === true
}
