import { isMade } from '#domain/change-set.ts'
import { plural } from '#domain/timeline/words.ts'
import { secretMark } from '#platform/secrets/redactor.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import { leftOutText } from '../progress/result-report.ts'
import { textLines, whoText, whyText } from '../run/describe-decisions.ts'
import type { Paint } from '../terminal-text.ts'
import { shortTime } from '../wording.ts'
import { type DiffRow, readDiff, withContext } from './diff-rows.ts'
import { fold, foldCode, foldProse, foldQuoted } from './fold-text.ts'
import { nameOfChange, type ReviewedSet, type Size } from './review-state.ts'

/** The diffs of a review are asked for with so many unchanged lines around each change; the screen shows what it has room for. */
export const mostContext = 30
const leastContext = 3

export const verdictStyles = { pending: 'yellow', accepted: 'green', rejected: 'red' } as const

/** A line of the body; `part` names what it is a piece of, in the same way at every size of the screen. */
export type BodyLine = { text: string; part: string }

/** Pieces of one part. */
export function partOf(part: string, texts: readonly string[]): BodyLine[] {
  return texts.map((text) => ({ text, part }))
}

type View = { width: number; paint: Paint }

/** Shows what was decided, said and proved, the diff with as much around it as fits into `room` lines, earlier attempts, and conflicts. */
export function describeChange(set: ReviewedSet, { columns: width, rows: room }: Size, paint: Paint): BodyLine[] {
  const { change, summary = '', earlier = [] } = set
  const view = { width, paint }
  const notes = [
    ...partOf('decision', decisionLines(change, view)),
    ...earlier.flatMap((attempt) => partOf(`earlier ${attempt.change_set_id}`, earlierLines(attempt, view))),
    ...partOf(
      'summary',
      foldProse(summaryOf(change, summary), width).filter((line) => line !== ''),
    ),
    ...partOf('evidence', evidenceLines(change, view)),
    ...partOf('warnings', warningLines(change, view)),
    ...partOf('built on', builtOnLines(set, view)),
  ]
  const below = [
    ...earlier.flatMap((attempt) => earlierDiffLines(attempt, view)),
    ...partOf('other', otherLines(change, view)),
  ]
  const diff = diffLines(change.diff, { ...view, room: room - notes.length - 1 - below.length })
  return [...notes, ...partOf('gap', ['']), ...diff, ...below]
}

/** A mechanical operation sums up the sets of all its rules, and this is one of them. */
function summaryOf({ rules }: ChangeView, summary: string): string {
  return rules.length === 0 ? summary : `the safe fixes of ${rules.join(', ')} in this file, made without a model`
}

function decisionLines({ verdict, decision }: ChangeView, { width, paint }: View): string[] {
  if (decision === null) return []
  const again = verdict === 'pending' ? 'pending again' : verdict
  const text = `${again} by ${whoText(decision)}, ${shortTime(decision.decided_at)} UTC${whyText(decision)}`
  return foldProse(text, width).map((line) => paint(styleOf(verdict), line))
}

function styleOf(verdict: string) {
  return verdict === 'accepted' || verdict === 'rejected' ? verdictStyles[verdict] : verdictStyles.pending
}

/** Names a change that an earlier attempt made. If it was rejected with a reason, the agents of a retry have been given that. */
function earlierLines({ verdict, decision, change_set_id: id }: ChangeView, { width, paint }: View): string[] {
  return foldProse(`an earlier attempt, ${id}, is ${verdict}${whyText(decision)}`, width).map((line) =>
    paint('yellow', line),
  )
}

/** Below the new diff, so that the two can be compared. */
function earlierDiffLines({ diff, change_set_id: id }: ChangeView, view: View): BodyLine[] {
  const title = foldProse(`what the earlier attempt, ${id}, changed:`, view.width)
  const rows = paintedRows(readDiff(diff), { ...view, context: leastContext })
  return [
    ...partOf(`title ${id}`, ['', ...title.map((line) => view.paint('yellow', line))]),
    ...rows.map(({ text, part }) => ({ text, part: `${part} of ${id}` })),
  ]
}

/** One line when everything holds; what fails, or could not be checked, in full. */
function evidenceLines({ evidence }: ChangeView, { width, paint }: View): string[] {
  const applicable = evidence.filter(({ check }) => check !== 'not_applicable')
  const holding = applicable.filter((proof) => proof.ok && isMade(proof))
  const failing = applicable.filter(({ ok }) => !ok)
  const unchecked = applicable.filter(({ check }) => check === 'not_checked')
  const more = (detail: string | undefined) => (detail === undefined ? '' : `: ${detail}`)
  const faults = failing.flatMap(({ check, path, detail }) =>
    foldProse(`${check} fails  ${path}${more(detail)}`, width),
  )
  const unknown = unchecked.flatMap(({ of = 'something', path, detail }) =>
    foldProse(`${of} not checked  ${path}${more(detail)}`, width),
  )
  const other = evidence.length - applicable.length
  const others = other === 0 ? '' : `; ${other} not applicable`
  return [
    ...faults.map((line) => paint('red', line)),
    ...unknown.map((line) => paint('yellow', line)),
    ...foldProse(`${holdingText(applicable.length, holding.length)}${others}${noticedText(holding)}`, width).map(
      (line) => paint(holding.length === 0 ? 'yellow' : 'green', line),
    ),
  ]
}

/** Says how many planted faults the tests notice (one is enough to pass), and what went with a docstring, since that is no documentation. */
function noticedText(holding: ChangeView['evidence']): string {
  const isTold = (check: string) => check === 'tests_kill_mutants' || check === 'docstring_only'
  const details = holding.flatMap(({ check, detail }) => (isTold(check) ? (detail ?? []) : []))
  return details.map((detail) => `; ${detail.split(';')[0] ?? ''}`).join('')
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

/** Names what the diff stands on; yellow where it would be accepted with this one. Shows their ids until they are known. */
function builtOnLines({ change, builtOn = [] }: ReviewedSet, { width, paint }: View): string[] {
  const known = new Map(builtOn.map((base) => [base.change_set_id, base]))
  const lines = change.built_on.slice(0, namedBases).flatMap((id) => {
    const base = known.get(id)
    const { verdict = 'pending' } = base ?? {}
    const text = `built on ${base === undefined ? id : nameOfChange(base)}${verdict === 'pending' ? '' : `, ${verdict}`}`
    return foldProse(text, width).map((line) => paint(styleOf(verdict), line))
  })
  const more = change.built_on.length - namedBases
  return more > 0 ? [...lines, paint('yellow', `built on ${more} more`)] : lines
}

/** Shows what the set that it collides with makes of the same place. */
function otherLines({ conflict }: ChangeView, { width, paint }: View): string[] {
  const other = conflict?.with
  const lines = other === undefined ? [] : textLines(other, ' makes of the same place')
  if (lines.length === 0) return []
  return ['', ...lines.flatMap((line) => foldQuoted(line, width)).map((line) => paint('yellow', line))]
}

function diffLines(diff: string, { room, ...view }: View & { room: number }): BodyLine[] {
  const rows = readDiff(diff)
  const least = paintedRows(rows, { ...view, context: leastContext })
  if (least.length >= room) return least
  for (let context = mostContext; context > leastContext; context--) {
    const lines = paintedRows(rows, { ...view, context })
    if (lines.length <= room) return lines
  }
  return least
}

const marks = { same: ' ', added: '+', removed: '-' } as const

function paintedRows(all: readonly DiffRow[], { context, ...view }: View & { context: number }): BodyLine[] {
  const rows = withContext(all, context)
  const places = new Map(all.map((row, at) => [row, at]))
  const isOneFile = rows.filter(({ kind }) => kind === 'file').length === 1
  let numbers = 1
  for (const row of rows) if ('line' in row) numbers = Math.max(numbers, String(row.line).length)
  return rows.flatMap((row) =>
    partOf(`row ${places.get(row) ?? 'left out'}`, rowLines(row, { ...view, numbers, isOneFile })),
  )
}

function rowLines(row: DiffRow, { width, paint, numbers, isOneFile }: View & { numbers: number; isOneFile: boolean }) {
  if (row.kind === 'gap') return [paint('dim', `${' '.repeat(numbers)} ⋮`)]
  if (row.kind === 'file') return isOneFile ? [] : fold(row.text, width).map((line) => paint('bold', line))
  if (row.kind === 'note') return fold(row.text, width).map((line) => paint('dim', line))
  const number = String(row.line).padStart(numbers)
  return foldCode(row.text, Math.max(1, width - numbers - 3)).map((text, at) => {
    const head = at === 0 ? number : ' '.repeat(numbers)
    const line = `${marks[row.kind]} ${text}`.trimEnd()
    if (row.kind === 'same') return `${paint('dim', head)} ${line}`.trimEnd()
    return `${paint('dim', head)} ${paint(row.kind === 'added' ? 'green' : 'red', line)}`
  })
}
