import { resolve } from 'node:path'
import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import type { PatchResult } from '../progress/result-report.ts'
import { applyElsewhereHint, applyHint, applyPatch, fitsFolder } from './apply-patch.ts'
import { patchedFolder } from '../discover/repository-around.ts'
import { writeWhole } from './output-file.ts'
import type { RunOrder } from './run-order.ts'
import { shownPath } from './shown-path.ts'

/** Writes the patch of a completed run and applies it if so ordered; undefined when the run proposes no change. */
export async function takePatch(
  client: ApiClient,
  run: RunView,
  order: Pick<RunOrder, 'path' | 'out' | 'apply' | 'source'>,
  { cwd }: CliContext,
): Promise<PatchResult> {
  const content = await client.readPatch(run.run_id)
  if (content === undefined) return undefined
  const target = resolve(cwd, order.out ?? `remora-${run.run_id}.patch`)
  await writeWhole(target, content)
  const named = resolve(cwd, order.path)
  const folder = order.source.kind === 'folder' ? named : await patchedFolder(named, run.request)
  if (order.apply) await applyPatch(folder, target)
  const written = { path: shownPath(target, cwd), applied: order.apply }
  // A run that was there before may have been made from another folder than this one.
  const isThere = order.source.kind === 'folder' || order.apply || (await fitsFolder(folder, target))
  if (isThere) return { ...written, hint: await applyHint(folder, target, cwd) }
  return { ...written, hint: applyElsewhereHint(target), elsewhere: true as const }
}
