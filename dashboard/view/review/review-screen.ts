import { computed, type Signal, signal } from '@preact/signals'
import type { WantedVerdict } from '#schemas/decision-schema.ts'
import { decide, type DecideOptions } from '../../core/review-decide.ts'
import { wantedOf } from '../../core/review-bulk.ts'
import type { ReviewDesk } from '../../core/review-desk.ts'
import {
  countVerdicts,
  keptRows,
  nextRow,
  type ReviewFilter,
  type ReviewRow,
  rowsOf,
  shownSets,
} from '../../core/review-filter.ts'
import { type ReviewedSet, verdictOf, type WantedDecision, withoutRefusal } from '../../core/review-fold.ts'
import { readViewed, withViewed } from '../../core/review-viewed.ts'

/** What a reviewer writes about a change before it is rejected. It is kept here, since the card may be scrolled away. */
export type Rejecting = { id: string; reason: string; isRetried: boolean }
export type OpenDialog = { kind: 'keys' } | { kind: 'bulk'; verdict: WantedVerdict }

export type ReviewScreen = ReturnType<typeof openScreen>

/** Makes a choice that the browser keeps, where it does not refuse to. */
function keptChoice(key: string): Signal<boolean> {
  const choice = signal(localStorage.getItem(key) === 'yes')
  choice.subscribe((isChosen) => {
    try {
      localStorage.setItem(key, isChosen ? 'yes' : 'no')
    } catch {} // it counts for this visit only
  })
  return choice
}

/** Knows what a reviewer looks at, and does what they ask for. It draws nothing. */
export function openScreen(desk: ReviewDesk) {
  const filter = signal<ReviewFilter>({})
  const kept = signal<ReadonlySet<string>>(new Set())
  const isByFile = keptChoice('remora.by-file')
  const isSplit = keptChoice('remora.split')
  const shown = computed(() => shownSets(desk.sets.value, filter.value, kept.value))
  let known: readonly ReviewRow[] = []
  const rows = computed(() => (known = keptRows(known, rowsOf(shown.value, isByFile.value))))
  const current = signal<string | undefined>(undefined)
  return {
    desk,
    filter,
    kept,
    isByFile,
    isSplit,
    shown,
    rows,
    counts: computed(() => countVerdicts(desk.sets.value.values())),
    /** Is the key of the row that keys are about. */
    current,
    /** The row that the page scrolls to, and gives the focus. */
    goal: signal<{ key: string } | undefined>(undefined),
    openEvidence: signal<ReadonlySet<string>>(new Set()),
    /** Change sets that are open although they were viewed, or closed although they were not. */
    turned: signal<ReadonlySet<string>>(new Set()),
    viewed: signal(readViewed(localStorage)),
    rejecting: signal<Rejecting | undefined>(undefined),
    dialog: signal<OpenDialog | undefined>(undefined),
    /** The ids of what was decided here, the last one at the end. */
    mine: signal<readonly string[]>([]),
  }
}

/** Is what a card is drawn of. */
export type CardProps = {
  screen: ReviewScreen
  set: ReviewedSet
  /** The key of its row. */
  rowKey: string
  /** Is set in the list by file: only this file's part of the change is shown. */
  path: string | undefined
  mayDecide: boolean
}

export function keyOfRow(row: ReviewRow): string {
  return row.kind === 'file' ? `file ${row.path}` : `${row.id} ${row.path ?? ''}`
}

export function setFilter(screen: ReviewScreen, filter: ReviewFilter): void {
  screen.filter.value = filter
  screen.kept.value = new Set()
}

/** Returns the row that keys are about: where none was chosen, the first. */
export function currentRow({ rows, current }: ReviewScreen): number {
  const at = rows.value.findIndex((row) => keyOfRow(row) === current.value)
  return at >= 0 ? at : rows.value.findIndex(({ kind }) => kind === 'change')
}

/** Goes to the next change, or the one before; with `isPending` to the next on which nobody has decided. */
export function move(screen: ReviewScreen, step: 1 | -1, { isPending = false } = {}): void {
  const { rows, current, desk } = screen
  const isWanted = (id: string) => {
    const set = desk.sets.value.get(id)
    return !isPending || (set !== undefined && verdictOf(set) === 'pending')
  }
  const from = current.value === undefined && !isPending ? -1 : currentRow(screen)
  const row = rows.value[nextRow(rows.value, from, { step, isWanted }) ?? -1]
  if (row !== undefined) goTo(screen, keyOfRow(row))
}

function goTo({ current, goal }: ReviewScreen, key: string): void {
  current.value = key
  goal.value = { key }
}

/** Goes to a change that is in the list. */
export function showChange(screen: ReviewScreen, id: string | undefined): void {
  const row = screen.rows.value.find((one) => one.kind === 'change' && one.id === id)
  if (row !== undefined) goTo(screen, keyOfRow(row))
}

/** Decides on sets as they are shown. */
export async function decideOn(
  screen: ReviewScreen,
  wanted: readonly WantedDecision[],
  options: DecideOptions = {},
): Promise<void> {
  const ids = wanted.map((one) => one.change_set_id)
  screen.kept.value = new Set([...screen.kept.value, ...ids])
  const last = new Set(ids)
  screen.mine.value = [...screen.mine.value.filter((id) => !last.has(id)), ...ids]
  await decide(screen.desk, wanted, options)
}

type DecideOneOptions = DecideOptions & { said?: Pick<WantedDecision, 'reason' | 'retry'> }

export function decideOne(
  screen: ReviewScreen,
  id: string,
  verdict: WantedVerdict,
  { said, ...options }: DecideOneOptions = {},
): void {
  const { sets } = screen.desk
  const set = sets.value.get(id)
  if (set === undefined || (set.sending !== undefined && said === undefined)) return
  sets.value = withoutRefusal(sets.value, id)
  void decideOn(screen, [{ ...wantedOf(set, verdict), ...said }], options)
}

/** Takes back the decision on a set; without one, the last that was made here. */
export function undo(screen: ReviewScreen, id: string): void {
  const isDecided = (one: string) => {
    const set = screen.desk.sets.value.get(one)
    return set !== undefined && verdictOf(set) !== 'pending'
  }
  const last = isDecided(id) ? id : screen.mine.value.findLast(isDecided)
  if (last === undefined)
    screen.desk.notice.value = { text: 'There is no decision of yours to take back', tone: 'quiet' }
  else decideOne(screen, last, 'undo')
}

export function startRejecting(screen: ReviewScreen, id: string): void {
  screen.rejecting.value = { id, reason: '', isRetried: false }
}

/** Sends what was written. Without a word the change is rejected, too, but nobody is to try it again. */
export function reject(screen: ReviewScreen): void {
  const { rejecting } = screen
  if (rejecting.value === undefined) return
  const { id, reason: given, isRetried } = rejecting.value
  const reason = given.trim()
  rejecting.value = undefined
  const said = reason === '' ? {} : { reason, ...(isRetried && { retry: true as const }) }
  decideOne(screen, id, 'reject', { said })
}

export function toggleViewed({ viewed, turned }: ReviewScreen, id: string): void {
  viewed.value = withViewed(viewed.value, { id, isViewed: !viewed.value.has(id) }, localStorage)
  turned.value = without(turned.value, id)
}

export function toggle(of: { value: ReadonlySet<string> }, id: string): void {
  of.value = of.value.has(id) ? without(of.value, id) : new Set([...of.value, id])
}

function without(all: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...all].filter((one) => one !== id))
}
