import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { AppError, asAppError } from '#domain/error.ts'
import { findProgram } from '#platform/run-program.ts'
import { openScratchFolder } from '#platform/scratch-folder.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { applyChanges } from '../apply/apply-changes.ts'
import type { CliContext } from '../cli-context.ts'
import { patchedFolder } from '../discover/repository-around.ts'
import type { PatchResult } from '../progress/patch-lines.ts'
import { shellWord, shownPath } from '../wording.ts'
import { writeWhole } from './output-file.ts'

export type PatchOrder = {
  path: string
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string | undefined
  apply: boolean
  /** This command submitted the run from `path`. An earlier run may have been made from another folder. */
  isNew: boolean
}

/** Writes the patch of a completed run, and applies what it changes if that was asked for; undefined when it changes nothing. */
export async function takePatch(
  client: Pick<ApiClient, 'listChanges' | 'readChangedFiles' | 'readPatch'>,
  { run_id: runId, request }: Pick<RunView, 'run_id' | 'request'>,
  order: PatchOrder,
  context: Pick<CliContext, 'config' | 'cwd' | 'signal'>,
): Promise<PatchResult> {
  const { cwd, signal } = context
  const of = request.accept === 'auto' ? 'accepted' : 'proposed'
  const content = await client.readPatch(runId, of)
  if (content === undefined) return undefined
  const target = resolve(cwd, order.out ?? `remora-${runId}.patch`)
  await writeWhole(target, content)
  const named = resolve(cwd, order.path)
  const folder = order.isNew ? named : await patchedFolder(named, request)
  if (order.apply) {
    await using scratch = await openScratchFolder('remora-apply-')
    const applying = { runId, of, folder, scratch: scratch.path, signal } as const
    await applyChanges(client, applying, context).catch((cause: unknown) => {
      const { code, message } = asAppError(cause, 'CONFIG_003')
      throw new AppError(code, `${message}\nthe patch is kept in ${target}`, { cause })
    })
  }
  const hint = `remora apply ${runId}${of === 'proposed' ? ' --of proposed' : ''}${await placeOf(folder, cwd)}`
  return { path: shownPath(target, cwd), applied: order.apply, hint }
}

/** Says where a command finds the folder that a run was made of; of an archive, that is where somebody unpacks it. */
async function placeOf(folder: string, cwd: string): Promise<string> {
  if (!(await isFolder(folder))) return `  # in the folder that ${basename(folder)} unpacks to`
  return folder === cwd ? '' : ` --to ${shellWord(shownPath(folder, cwd))}`
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
