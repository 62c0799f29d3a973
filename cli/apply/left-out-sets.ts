import type { PatchKind } from '#domain/run.ts'
import type { ApiClient } from '../api-client.ts'
import { leftOutText } from '../progress/result-report.ts'
import type { LeftOut, PatchSets } from '../run-views.ts'
import { visible } from '../terminal-text.ts'
import { plural } from '../wording.ts'

/** Accepted change sets that the patch has not: how many, and the first of them. `inPatch`: how many it has. */
export type LeftOutSets = { runId: string; count: number; first: readonly LeftOut[]; inPatch: number }

/** Of the patch of what was accepted; in one of all that is proposed nothing is missing that somebody asked for. */
export async function readLeftOut(
  client: Pick<ApiClient, 'readPatchSets'>,
  runId: string,
  of: PatchKind,
): Promise<LeftOutSets> {
  if (of === 'proposed') return { runId, count: 0, first: [], inPatch: 0 }
  const sets: PatchSets = await client.readPatchSets(runId, of)
  return { runId, count: sets.left_out_count, first: sets.left_out, inPatch: sets.change_sets }
}

const shownSets = 20

/** A line for each accepted set that is left out, why, and what can be done about it; empty where there is none. */
export function describeLeftOut({ runId, count, first }: LeftOutSets): string {
  if (count === 0) return ''
  const shown = first.slice(0, shownSets)
  const lines = shown.map((one) => `  ${leftOutText(one)}`)
  const rest = count > shown.length ? [`  … and ${plural(count - shown.length, 'other')}`] : []
  const [one] = shown
  const undo = one === undefined ? [] : [`  To take back one of them: remora undo ${runId} ${one.change_set_id}`]
  const what = `${plural(count, 'accepted change set')} left out of the patch:`
  return [what, ...lines, ...rest, ...undo].map((line) => `${visible(line)}\n`).join('')
}

/** Why a patch of what was accepted is empty. */
export function emptyPatchText({ count, inPatch }: LeftOutSets): string {
  if (count > 0) return `all that is accepted of it is left out`
  return inPatch === 0 ? 'nothing of it is accepted' : 'what is accepted of it comes to nothing'
}
