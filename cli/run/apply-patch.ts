import { execFile } from 'node:child_process'
import { realpath, stat } from 'node:fs/promises'
import { basename, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#domain/error.ts'
import { findProgram } from '#platform/find-program.ts'

const run = promisify(execFile)

/**
 * The `git apply` that puts `patch` onto `folder`: its arguments and where to run it. Inside a larger repository the
 * command runs at the top with `--directory`, because in a subfolder git skips every file without an error.
 */
async function applyCommand(folder: string, patch: string): Promise<{ cwd: string; args: string[] }> {
  const cwd = await realpath(folder)
  const place = await run('git', ['rev-parse', '--show-toplevel', '--show-prefix'], { cwd }).catch(() => undefined)
  const [top = '', prefix = ''] = place?.stdout.split('\n') ?? []
  if (top === '' || prefix === '') return { cwd, args: ['apply', resolve(patch)] }
  return { cwd: top, args: ['apply', `--directory=${prefix.replace(/\/$/, '')}`, resolve(patch)] }
}

/** Whether the whole of `patch` would apply to `folder` as it is. */
export async function fitsFolder(folder: string, patch: string): Promise<boolean> {
  const { cwd, args } = await applyCommand(folder, patch)
  const [apply = 'apply', ...rest] = args
  return run('git', [apply, '--check', ...rest], { cwd }).then(
    () => true,
    () => false,
  )
}

/**
 * What to paste in the folder a run was made from, when that is not known here: it asks git at that moment where in a
 * larger repository that folder is (see `applyCommand`). Outside of any, git's answer is empty.
 */
export function applyElsewhereHint(patch: string): string {
  return `git apply --directory="$(git rev-parse --show-prefix 2>/dev/null)" ${quoted(resolve(patch))}`
}

/**
 * `applyCommand` as a line to paste into a shell whose folder is `from`; for an archive, one for the folder that it is unpacked
 * to.
 */
export async function applyHint(folder: string, patch: string, from: string): Promise<string> {
  if (!(await isFolder(folder))) {
    return `${applyElsewhereHint(patch)}  # in the folder that ${basename(folder)} unpacks to`
  }
  const { cwd, args } = await applyCommand(folder, patch)
  const at = relative(await realpath(from), cwd)
  const short = args.map((arg) => (arg === resolve(patch) && at === '' ? relative(from, arg) : arg))
  return ['git', ...(at === '' ? [] : ['-C', at]), ...short].map(quoted).join(' ')
}

/**
 * CONFIG_003 unless `path` is a folder, CONFIG_006 without git. Called before the work, so that `--apply` cannot come to
 * nothing.
 */
export async function requireAppliable(path: string, searchPath: string): Promise<void> {
  if (!(await isFolder(path))) throw new AppError('CONFIG_003', `--apply needs a folder, and ${path} is none`)
  if ((await findProgram('git', searchPath)) !== undefined) return
  throw new AppError('CONFIG_006', '--apply needs git, which is not on the PATH: "remora doctor" says how to get it')
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() === true
}

/** Applies all of `patch` to the files of `folder`, or nothing of it: WORK_002 with git's words when it does not fit, CONFIG_003
 * when git may not write there. */
export async function applyPatch(folder: string, patch: string): Promise<void> {
  const { cwd, args } = await applyCommand(folder, patch)
  const [apply = 'apply', ...rest] = args
  const kept = `the patch is kept in ${patch}`
  await run('git', [apply, '--check', ...rest], { cwd }).catch((error: unknown) => {
    throw new AppError('WORK_002', `the patch does not fit ${folder}: ${wordsOf(error)}; ${kept}`, { cause: error })
  })
  await run('git', args, { cwd }).catch((error: unknown) => {
    const message = `the files of ${folder} cannot be changed: ${wordsOf(error)}; ${kept}`
    throw new AppError('CONFIG_003', message, { cause: error })
  })
}

function wordsOf(error: unknown): string {
  if (error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr !== '') {
    return error.stderr.trim().slice(0, 1000)
  }
  return error instanceof Error ? error.message : String(error)
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
