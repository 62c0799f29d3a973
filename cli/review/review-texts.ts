import { figure } from '#domain/figure.ts'
import { unreachable } from '#domain/error.ts'
import { plural } from '#domain/timeline/words.ts'
import { conditionsLine, type Where } from '../run/change-conditions.ts'
import { onOneLine } from '../terminal-text.ts'
import type { ReviewedSet, ReviewState } from './review-state.ts'

export const helpText = `a      accept this change
r      reject it
w      reject it with a word: why, in one line, for the agent
       (it tries again after the end of the run; if that has
       ended, once "remora retry RUN --rejected" asks for it)
u      take back the decision on this change, or the last one
s      skip it: it stays as it is, and can be shown again at the end
n →    the next change
b ←    the one before
space  the next page of a long change; ↑ ↓ and page keys too
t      the transcript of the agent, in $PAGER where that is set
f      which changes are shown, as for --where:
       agent=lint path=src/** evidence=passed verdict=pending
q      quit

Decisions are sent as they are made: nothing is lost at the end.
What somebody else has decided meanwhile is shown, not changed.
When a change collides with an accepted one, you see both texts and choose.
When other changes are built on it, you see which, and decide on all or none.`

/** Names what the keys do now, the most important first, since a narrow screen has no room for all. */
export function keyTexts(state: ReviewState, over: { hasDependents: boolean }): string[] {
  const { mode, sets, at } = state
  switch (mode.kind) {
    case 'typing':
      return [mode.what === 'reason' ? 'Enter rejects' : 'Enter shows these', 'Esc cancels', 'Ctrl-U empties the line']
    case 'reading':
      return ['space a page on', '↑ ↓ scroll', 'q back to the review']
    case 'refused':
      if (mode.instead !== undefined) {
        const { decisions, withDependents = false } = mode.instead
        const others = withDependents || decisions.length > 1 ? ' of all these' : ''
        const keep = `k keep ${others === '' ? 'both' : 'all'} as they are`
        return [`i this one instead${others}`, 'r reject this one', 'w reject with a word', keep, 'q quit']
      }
      return [...(over.hasDependents ? ['d with what is built on it'] : []), 'k keep it as it is', 'q quit']
    case 'looking': {
      if (at < sets.length) {
        const first = ['a accept', 'r reject', 'w reject with a word', 's skip', 'b back', 'u undo']
        return [...first, 't transcript', 'f filter', '? help', 'q quit']
      }
      const again = skippedSets(state).length === 0 ? [] : ['s those that were skipped']
      return ['n look again', ...again, 'b back', 'u undo', 'f filter', '? help', 'q quit']
    }
    default:
      return unreachable(mode)
  }
}

export function endText(state: ReviewState): string[] {
  const { list, run } = state
  if (list === 'under way') return ['Looking for changes …']
  if (list === 'in part') return ['The list of changes could not be read to its end: n tries again.']
  const pending = pendingSets(state).length
  const more = run === 'goes on' ? ['The run goes on: new changes are shown as soon as there are some.'] : []
  return [endSentence(state, pending), ...more, '', ...summaryLines(state)]
}

function endSentence({ sets, where, run }: ReviewState, pending: number): string {
  if (pending > 0) return `That was the last one. Still pending: ${pending}.`
  if (sets.length > 0 || Object.keys(where).length === 0) return 'Nothing is left to look at.'
  return `No change meets these conditions${run === 'goes on' ? ' yet' : ''}.`
}

function pendingSets({ sets }: ReviewState): ReviewedSet[] {
  return sets.filter(({ change }) => change.verdict === 'pending')
}

/** Returns those that were skipped and on which nobody has decided since. */
export function skippedSets(state: ReviewState): ReviewedSet[] {
  return pendingSets(state).filter(({ change }) => state.skipped.has(change.change_set_id))
}

export function summaryLines(state: ReviewState): string[] {
  const { runId, decided, sets, list } = state
  const made = [...decided.values()]
  const accepted = made.filter(({ verdict }) => verdict === 'accepted').length
  const rejected = made.length - accepted
  const reasoned = made.filter(({ word }) => word !== 'none').length
  const skipped = skippedSets(state).length
  const of = onOneLine(narrowed(state.where))
  const leftOf = of === '' ? '' : ` of those with ${of}`
  const isAccepted = accepted > 0 || sets.some(({ change }) => change.verdict === 'accepted')
  const next = [
    ...(isAccepted ? [`remora apply ${runId}  # in the folder of the run, or with --to FOLDER`] : []),
    ...(made.some(({ word }) => word === 'for the agent') ? [`remora retry ${runId} --rejected`] : []),
  ]
  const sentBack = made.filter(({ word }) => word === 'sent back').length
  return [
    `accepted  ${accepted}`,
    `rejected  ${rejected}${reasoned === 0 ? '' : ` (${reasoned} with a word)`}`,
    `skipped   ${skipped}`,
    `left      ${pendingSets(state).length - skipped}${list === 'whole' ? '' : ' or more'}${leftOf}`,
    ...(sentBack === 0 ? [] : [`again     ${sentBack}, ${retryText(state)}`]),
    ...next.map((command, at) => `${at === 0 ? 'next' : '    '}      ${command}`),
  ]
}

function retryText({ retry, runId }: ReviewState): string {
  const generation = retry?.generation ?? null
  return generation === null
    ? `when run ${runId} has ended`
    : `in generation ${generation} of run ${runId}, which goes on`
}

/** `12 accepted, 1 rejected`: of the list. */
export function countsText({ sets, where }: ReviewState): string {
  const count = (verdict: string) => sets.filter(({ change }) => change.verdict === verdict).length
  return `${narrowed(where) === '' ? '' : 'of these '}${count('accepted')} accepted, ${count('rejected')} rejected`
}

/** Returns the conditions that leave out pending sets; empty where all of these are shown. */
function narrowed({ verdict, ...others }: Where): string {
  return conditionsLine(verdict === undefined || verdict === 'pending' ? others : { ...others, verdict })
}

/** `3 of 41`; `1,000+` while not all are listed. */
export function placeText({ sets, at, list }: ReviewState): string {
  const total = `${figure(sets.length)}${list === 'whole' ? '' : '+'}`
  return at < sets.length ? `${at + 1} of ${total}` : plural(sets.length, 'change')
}
