import type { PatchKind } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import type { GateView } from '#schemas/gate-schema.ts'
import type { PatchSets } from '#schemas/patch-schema.ts'
import type { LeftOut } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { gateText } from '../progress/proof-lines.ts'
import { leftOutText } from '../progress/result-report.ts'
import { visible } from '../terminal-text.ts'

/** Change sets that the patch leaves out: how many, and the first of them. `inPatch`: how many it has. `gate`: what that found of it. */
export type LeftOutSets = {
  runId: string
  of: PatchKind
  count: number
  first: readonly LeftOut[]
  inPatch: number
  gate: GateView | undefined
}

export async function readLeftOut(
  client: Pick<ApiClient, 'readPatchSets'>,
  runId: string,
  of: PatchKind,
): Promise<LeftOutSets> {
  const sets: PatchSets = await client.readPatchSets(runId, of)
  const { left_out_count: count, left_out: first, change_sets: inPatch, gate } = sets
  return { runId, of, count, first, inPatch, gate: gate ?? undefined }
}

const shownSets = 20

/** Says what the gate found, then a line for each set that is left out; empty where there is neither. */
export function describePatch({ gate, ...leftOut }: LeftOutSets): string {
  const verified = gate === undefined ? '' : `${visible(`Verified with ${gate.command}: ${gateText(gate)}`)}\n`
  return verified + describeLeftOut(leftOut)
}

function describeLeftOut({ runId, of, count, first }: Omit<LeftOutSets, 'gate'>): string {
  if (count === 0) return ''
  const shown = first.slice(0, shownSets)
  const lines = shown.map((set) => `  ${leftOutText(set)}`)
  const rest = count > shown.length ? [`  … and ${plural(count - shown.length, 'other')}`] : []
  const [firstShown] = shown
  const what = `${plural(count, of === 'accepted' ? 'accepted change set' : 'change set')} left out of the patch:`
  return [what, ...lines, ...rest, ...(firstShown === undefined ? [] : wayOn(firstShown, { runId, of }))]
    .map((line) => `${visible(line)}\n`)
    .join('')
}

function wayOn(
  { change_set_id: id, with: other }: LeftOut,
  { runId, of }: Pick<LeftOutSets, 'runId' | 'of'>,
): string[] {
  if (of === 'accepted') return [`  To take back one of them: remora undo ${runId} ${id}`]
  return other === undefined ? [] : [`  To have the first instead: remora reject ${runId} ${other.change_set_id}`]
}

export function leftOutDocument({ count, first, gate }: LeftOutSets) {
  return { ...(count > 0 && { left_out_count: count, left_out: first }), ...(gate && { gate }) }
}

export function emptyPatchText({ count, inPatch }: LeftOutSets): string {
  if (count > 0) return `all that is accepted of it is left out`
  return inPatch === 0 ? 'nothing of it is accepted' : 'what is accepted of it comes to nothing'
}
