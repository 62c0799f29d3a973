import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { runProgram } from '#platform/run-program.ts'

/** More than a file system keeps beside its blocks: a full disk takes an empty file. */
const probeBytes = 1024 ** 2
const fullDisk = new Set(['ENOSPC', 'EDQUOT'])

/**
 * Makes the data folder, and the folders above it that are missing; unless it holds other things than ours it hides
 * itself from git. CONFIG_003 when it cannot be made or written, its disk is full, or its content is not ours: it belongs
 * to another user, or came with a repository. `env`: that of this process, of which git is given the bare part.
 */
export async function makeDataFolder(dataDir: string, env: Env = {}): Promise<void> {
  try {
    await makeFolder(dataDir)
    await refuseForeign(dataDir, env)
    if (await isOurs(dataDir)) await writeFile(join(dataDir, '.gitignore'), '*\n')
    const probe = join(dataDir, `.probe-${randomUUID()}`)
    try {
      await writeFile(probe, Buffer.alloc(probeBytes))
    } finally {
      await rm(probe, { force: true })
    }
  } catch (error) {
    throw error instanceof AppError ? error : dataNotWritable(dataDir, error)
  }
}

/** CONFIG_003 for a folder or file among the data that cannot be made or written. */
export function dataNotWritable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const remedy = fullDisk.has(reason) ? 'the disk is full, free some space' : 'make it writable'
  return new AppError(
    'CONFIG_003',
    `the data cannot be kept in ${path} (${reason}): ${remedy}, or name another folder in REMORA_DATA_DIR`,
    { cause },
  )
}

const root = 0
const gitMs = 5_000

async function refuseForeign(dataDir: string, env: Env): Promise<void> {
  const elsewhere = 'or name another folder in REMORA_DATA_DIR'
  const { uid } = await stat(dataDir)
  if (process.getuid !== undefined && uid !== process.getuid() && uid !== root) {
    throw new AppError('CONFIG_003', `${dataDir} belongs to another user: remove it, ${elsewhere}`)
  }
  if ((await readdir(dataDir)).length === 0 || !(await isTracked(dataDir, env))) return
  throw new AppError(
    'CONFIG_003',
    `git tracks files in ${dataDir}, where only Remora may write: "git rm -r ${dataDir}" if you do not know them, ${elsewhere}`,
  )
}

/** Without what the repository's own settings would have git start. No git, or no repository: nothing is tracked. */
async function isTracked(dataDir: string, env: Env): Promise<boolean> {
  const quiet = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
  const ended = await runProgram(['git', ...quiet, '-C', dataDir, 'ls-files', '--cached', '--', '.'], {
    limitMs: gitMs,
    signal: new AbortController().signal,
    env,
  })
  return ended.kind === 'ended' && ended.code === 0 && ended.out !== ''
}

const ownEntries = /^(?:redis|s3|\.gitignore|stack[.-].*)$/

async function isOurs(dataDir: string): Promise<boolean> {
  return (await readdir(dataDir)).every((name) => ownEntries.test(name))
}

/**
 * Folder by folder: Node's own `recursive` tries for ever where the system says ENOENT of a new folder, as /proc does.
 */
async function makeFolder(path: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  try {
    await mkdir(path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
