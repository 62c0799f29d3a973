import type { RunView } from '#schemas/run-schema.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Paint } from '../terminal-text.ts'
import { failedOperations, isComposed, isFruitless, type ProgressState } from './progress-state.ts'

/** The patch file. `hint` is the command that applies it. */
export type PatchResult = { path: string; applied: boolean; hint: string } | undefined

/** A patch that was not fetched, and the command that prints it. */
export type UnfetchedPatch = { printedBy: string }

type PatchParts = { state: ProgressState; run: RunView; patch: PatchResult | UnfetchedPatch }

export function patchLines({ state, run, patch }: PatchParts, paint: Paint): string[] {
  if (!isComposed(run.status, state)) return []
  const review = `Look at each change, take some and reject others: remora review ${run.run_id}`
  if (patch === undefined) {
    const unaccepted = unacceptedLine(run)
    return unaccepted === undefined ? [noPatchLine(state, run)] : [unaccepted, review]
  }
  if ('printedBy' in patch) {
    if (state.patchFiles === 0) return [noPatchLine(state, run)]
    return [`Its patch: ${patch.printedBy}`, ...acceptedLines(run), review]
  }
  const what = run.request.accept === 'auto' ? 'Accepted patch:' : 'Proposed patch:'
  const written = [`${what} ${patch.path}`, ...acceptedLines(run)]
  if (patch.applied) return [...written, paint('green', 'Applied.')]
  return [...written, `Apply it:       ${patch.hint}`, review]
}

/** Says of a run that accepts by itself how much is accepted, and whose changes wait for a person. */
function acceptedLines({ request, funnel, run_id: runId }: RunView): string[] {
  if (request.accept !== 'auto') return []
  const waiting = funnel.flatMap(({ agent, valid, verified, accepted_unverified: taken }) => {
    const unproved = (valid ?? 0) - (verified ?? 0) - taken
    return unproved > 0 ? [`${unproved} of ${agent}`] : []
  })
  const sum = (of: 'accepted' | 'accepted_unverified' | 'valid') =>
    funnel.reduce((total, counts) => total + (counts[of] ?? 0), 0)
  const accepted = sum('accepted') + sum('accepted_unverified')
  return [
    `  ${accepted} of ${plural(sum('valid'), 'change set')} accepted: those with all the evidence that their agent asks for`,
    ...(waiting.length === 0
      ? []
      : [
          `  ${waiting.join(', ')} did not pass a check: remora diff ${runId} OPERATION names it, and a person may accept them`,
        ]),
  ]
}

/** Says why a run that accepts by itself has accepted nothing, although there is something to accept; undefined for any other. */
function unacceptedLine({ request, funnel, gate }: RunView): string | undefined {
  const valid = funnel.reduce((total, { valid: count, rejected }) => total + (count ?? 0) - rejected, 0)
  if (request.accept !== 'auto' || valid <= 0) return undefined
  const why =
    gate?.verdict === 'unproved'
      ? "what the run's gate could not judge is not accepted without a person"
      : "by itself a run accepts only what has all the evidence in its agent's accept_when"
  return `None of ${plural(valid, 'change set')} was accepted, and no patch was written: ${why}.`
}

function noPatchLine(state: ProgressState, { conflicts }: RunView): string {
  if (state.total === 0) return 'Nothing to do: no operation was needed, and no patch was written.'
  if (conflicts > 0) return 'No patch was written: every change set was left out.'
  if (failedOperations(state) === 0) return 'Nothing to change: no patch was written.'
  if (isFruitless(state)) return 'No patch was written: every operation failed.'
  return 'No patch was written: the operations that did not fail had nothing to change.'
}
