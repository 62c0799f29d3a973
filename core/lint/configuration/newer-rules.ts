import { stringsOf, type Table, tableAt } from './config-tree.ts'
import { previewSince, stableSince } from './rule-history.ts'
import { switchesOn } from './rule-selection.ts'

/** Rules that took over a part of an older one: while that was on, their faults were reported by it. */
const splitFrom = new Map([['UP045', 'UP007']])

/**
 * The rules that `lint` has on with the Ruff we run, by a prefix or `ALL`, and that Ruff 0.`minor` does not have on yet. In
 * preview these are the ones it did not know at all. A rule that is named by its exact code is not among them: who names it
 * wants it.
 */
export function rulesNewerThan(minor: number, lint: Table, isPreview: boolean): string[] {
  // Nothing selected is Ruff's own default, which has rules of any name.
  const chosen = lint['select'] === undefined ? { ...lint, select: ['ALL'] } : lint
  const named = new Set([...stringsOf(lint['select']), ...stringsOf(lint['extend-select'])])
  // With `explicit-preview-rules` no prefix turns a rule on while it is in preview.
  const since = isPreview && lint['explicit-preview-rules'] !== true ? previewSince : stableSince
  return Object.entries(since)
    .flatMap(([version, codes]) => (Number(version) > minor ? codes.split(' ') : []))
    .filter((code) => switchesOn(chosen, code) && !named.has(code) && !wasPartOfAnother(code, chosen))
}

/** The defaults of Ruff before 0.6; its fixes and ours would undo each other under those of today. */
const parenthesesBefore6 = { 'fixture-parentheses': true, 'mark-parentheses': true }

/** The table of PT001 and PT023 with the defaults of Ruff 0.`minor`; undefined where they are those of the Ruff we run. */
export function pytestStyleOf(minor: number, lint: Table, isPreview: boolean): Table | undefined {
  // In preview the defaults changed before.
  if (minor >= 6 || isPreview) return undefined
  return { ...parenthesesBefore6, ...tableAt(lint['flake8-pytest-style']) }
}

function wasPartOfAnother(code: string, lint: Table): boolean {
  const whole = splitFrom.get(code)
  return whole !== undefined && switchesOn(lint, whole)
}
