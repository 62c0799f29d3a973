import { secretMark } from '#platform/secrets/redactor.ts'
import { type ChangeView, whyText } from '../operation-views.ts'
import { leftOutText } from '../progress/result-report.ts'
import { textLines } from '../run/describe-decisions.ts'
import { type Paint, visible } from '../terminal-text.ts'
import { plural, shortTime } from '../wording.ts'
import { type DiffRow, readDiff, withContext } from './diff-rows.ts'
import { fold, foldProse } from './fold-text.ts'
import { nameOfChange, type ReviewedSet, type Size } from './review-state.ts'

/** The diffs of a review are asked for with so many unchanged lines around each change; the screen shows what it has room for. */
export const mostContext = 30
const leastContext = 3

export const verdictStyles = { pending: 'yellow', accepted: 'green', rejected: 'red' } as const

type View = { width: number; paint: Paint }

/**
 * All that a reviewer sees of a change set: what was decided, what its agent said, what was proved, its diff, with as much
 * around it as fits into `room` lines, what earlier attempts changed, and what it collides with.
 */
export function describeChange(set: ReviewedSet, { columns: width, rows: room }: Size, paint: Paint): string[] {
  const { change, summary = '', earlier = [] } = set
  const view = { width, paint }
  const notes = [
    ...decisionLines(change, view),
    ...earlier.flatMap((one) => earlierLines(one, view)),
    ...foldProse(summary, width).filter((line) => line !== ''),
    ...evidenceLines(change, view),
    ...warningLines(change, view),
    ...builtOnLines(set, view),
  ]
  const below = [...earlier.flatMap((one) => earlierDiffLines(one, view)), ...otherLines(change, view)]
  return [...notes, '', ...diffLines(change.diff, { ...view, room: room - notes.length - 1 - below.length }), ...below]
}

function decisionLines({ verdict, decision }: ChangeView, { width, paint }: View): string[] {
  if (decision === null) return []
  const { decided_by: who, decided_at: when } = decision
  const again = verdict === 'pending' ? 'pending again' : verdict
  const text = `${again} by ${who}, ${shortTime(when)} UTC${whyText(decision)}`
  return foldProse(text, width).map((line) => paint(styleOf(verdict), line))
}

function styleOf(verdict: string) {
  return verdict === 'accepted' || verdict === 'rejected' ? verdictStyles[verdict] : verdictStyles.pending
}

/** A retry was told of it, if it was rejected with a word. */
function earlierLines({ verdict, decision, change_set_id: id }: ChangeView, { width, paint }: View): string[] {
  return foldProse(`an earlier attempt, ${id}, is ${verdict}${whyText(decision)}`, width).map((line) =>
    paint('yellow', line),
  )
}

/** Below the new diff, so that the two can be compared. */
function earlierDiffLines({ diff, change_set_id: id }: ChangeView, view: View): string[] {
  const title = foldProse(`what the earlier attempt, ${id}, changed:`, view.width)
  return [
    '',
    ...title.map((line) => view.paint('yellow', line)),
    ...paintedRows(withContext(readDiff(diff), leastContext), view),
  ]
}

/** One line when everything holds; what fails, or could not be checked, in full. */
function evidenceLines({ evidence }: ChangeView, { width, paint }: View): string[] {
  const holding = evidence.filter(({ check, ok }) => ok && check !== 'not_checked')
  const failing = evidence.filter(({ check, ok }) => !ok && check !== 'not_checked')
  const unchecked = evidence.filter(({ check }) => check === 'not_checked')
  const more = (detail: string | undefined) => (detail === undefined ? '' : `: ${detail}`)
  const faults = failing.flatMap(({ check, path, detail }) =>
    foldProse(`${check} fails  ${path}${more(detail)}`, width),
  )
  const unknown = unchecked.flatMap(({ of = 'something', path, detail }) =>
    foldProse(`${of} not checked  ${path}${more(detail)}`, width),
  )
  return [
    ...faults.map((line) => paint('red', line)),
    ...unknown.map((line) => paint('yellow', line)),
    ...foldProse(holdingText(evidence.length, holding.length), width).map((line) =>
      paint(holding.length === 0 ? 'yellow' : 'green', line),
    ),
  ]
}

function holdingText(made: number, holding: number): string {
  if (made === 0) return 'nothing was checked'
  if (holding === 1) return '1 check holds'
  return `${made === holding ? 'all ' : ''}${plural(holding, 'check')} hold`
}

function warningLines({ conflict, diff }: ChangeView, { width, paint }: View): string[] {
  const secret = diff.includes(secretMark) ? [`${secretMark} hides a secret of the repository`] : []
  const why = conflict === undefined ? [] : [`left out of the patch: ${leftOutText(conflict)}`]
  return [...secret, ...why].flatMap((text) => foldProse(text, width)).map((line) => paint('yellow', line))
}

/** So many of the sets that a set is built on are named. */
export const namedBases = 5

/** What the diff stands on, and does not show; yellow where it would be accepted with this one. Until they are known, their ids. */
function builtOnLines({ change, builtOn = [] }: ReviewedSet, { width, paint }: View): string[] {
  const known = new Map(builtOn.map((one) => [one.change_set_id, one]))
  const lines = change.built_on.slice(0, namedBases).flatMap((id) => {
    const one = known.get(id)
    const { verdict = 'pending' } = one ?? {}
    const text = `built on ${one === undefined ? id : nameOfChange(one)}${verdict === 'pending' ? '' : `, ${verdict}`}`
    return foldProse(text, width).map((line) => paint(styleOf(verdict), line))
  })
  const more = change.built_on.length - namedBases
  return more > 0 ? [...lines, paint('yellow', `built on ${more} more`)] : lines
}

/** What the set that it collides with makes of the same place. */
function otherLines({ conflict }: ChangeView, { width, paint }: View): string[] {
  const other = conflict?.with
  const lines = other === undefined ? [] : textLines(other, ' makes of the same place')
  if (lines.length === 0) return []
  return ['', ...lines.flatMap((line) => fold(visible(line), width)).map((line) => paint('yellow', line))]
}

function diffLines(diff: string, { room, ...view }: View & { room: number }): string[] {
  const rows = readDiff(diff)
  const least = paintedRows(withContext(rows, leastContext), view)
  if (least.length >= room) return least
  for (let context = mostContext; context > leastContext; context--) {
    const lines = paintedRows(withContext(rows, context), view)
    if (lines.length <= room) return lines
  }
  return least
}

const marks = { same: ' ', added: '+', removed: '-' } as const

function paintedRows(rows: readonly DiffRow[], { width, paint }: View): string[] {
  const files = rows.filter(({ kind }) => kind === 'file').length
  let numbers = 1
  for (const row of rows) if ('line' in row) numbers = Math.max(numbers, String(row.line).length)
  return rows.flatMap((row) => {
    if (row.kind === 'gap') return [paint('dim', `${' '.repeat(numbers)} ⋮`)]
    if (row.kind === 'file') return files === 1 ? [] : fold(row.text, width).map((line) => paint('bold', line))
    if (row.kind === 'note') return fold(row.text, width).map((line) => paint('dim', line))
    const number = String(row.line).padStart(numbers)
    return fold(row.text, Math.max(1, width - numbers - 3)).map((text, at) => {
      const head = at === 0 ? number : ' '.repeat(numbers)
      const line = `${marks[row.kind]} ${text}`.trimEnd()
      if (row.kind === 'same') return `${paint('dim', head)} ${line}`.trimEnd()
      return `${paint('dim', head)} ${paint(row.kind === 'added' ? 'green' : 'red', line)}`
    })
  })
}
