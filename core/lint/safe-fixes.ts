/** A replacement in UTF-16 units of a text, end-exclusive. */
export type TextEdit = { start: number; end: number; text: string }

/** Without what the old and the new text have in common at both ends: linters replace whole statements or lines. */
export function smallestEdit({ start, end, text: added }: TextEdit, text: string): TextEdit {
  const removed = text.slice(start, end)
  const least = Math.min(removed.length, added.length)
  let head = 0
  while (head < least && removed[head] === added[head]) head++
  let tail = 0
  while (tail < least - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++
  return { start: start + head, end: end - tail, text: added.slice(head, added.length - tail) }
}

/**
 * Rules whose fixes are made without a review by a person. The wasm build does not report which fixes are safe, so the
 * list is measured (docs/decisions/0042): every fix that Ruff 0.17.3 calls safe was made, rule by rule, in packages of
 * PyPI, whose own tests ran before and after, and in CPython 3.11's library, which had to compile; then the fixes of
 * the whole list at once in all of them, with the library's tests (bench/repositories/safe-list.md). A rule is in the
 * list only if it occurred there, changed no test and lost no comment. Left out although Ruff calls them safe: rules
 * that swap operands (SIM300), merge or reshape branches (SIM114, SIM117, RET505 to RET508, PLR5501), write long lines
 * (SIM905), change the text of docstrings, which may be data (D202, D209, D212, D403, D412, D413), or rewrite types
 * that are read at run time (UP006, UP007, UP045). Which imports F401 and F811 remove, fixable-faults.ts decides.
 */
export const safeRules: ReadonlySet<string> = new Set(
  (
    'B009 B010 C420 COM812 COM819 D201 D204 D300 E401 E703 E713 E714 F401 F541 F811 F841 FURB105 FURB167 I001 ISC001 ' +
    'PIE790 PIE804 PIE807 PIE808 PLR0402 PT001 RET501 RET502 RUF010 RUF021 RUF022 TC006 UP004 UP010 UP015 UP018 UP024 ' +
    'UP032 UP034 UP035 UP037 UP041 W291 W292 W293'
  ).split(' '),
)

export function isSafeFix(code: string, edits: readonly TextEdit[], text: string): boolean {
  if (!safeRules.has(code)) return false
  return edits.every((edit) => hasSafePlace(code, edit, text))
}

/** Code that may look up a local variable by its name. */
const readsNamesAsText = /\b(?:locals|vars|dir|eval|exec|globals|_getframe)\s*\(/

/** False for those fixes of a rule that Ruff calls unsafe. */
function hasSafePlace(code: string, edit: TextEdit, text: string): boolean {
  // Without its prefix, an f-string that is a statement of its own could become a docstring.
  if (code === 'F541') return !standsAlone(edit, text)
  // Only an unused name of an exception is removed: the value of an unused variable may be computed for its effect.
  if (code === 'F841') return edit.text === '' && removesUnusedName(edit, text)
  return true
}

/**
 * Whether ` as NAME` goes, and nothing in the handler has the name, comments included. Ruff also reports one that the handler itself binds again
 * in some case, and reads in each.
 */
function removesUnusedName({ start, end }: TextEdit, text: string): boolean {
  const [, name] = /^ as (\w+)$/.exec(text.slice(start, end)) ?? []
  if (name === undefined || readsNamesAsText.test(text)) return false
  const body = handlerBody(text, start, end)
  return !/"""|'''/.test(body) && !new RegExp(`(?<!\\w)${name}(?!\\w)`, 'u').test(body)
}

/** From behind the name to the next code that is not further in than the `except`. */
function handlerBody(text: string, start: number, end: number): string {
  const indent = indentOf(text.slice(text.lastIndexOf('\n', start - 1) + 1))
  const [head = '', ...lines] = text.slice(end).split('\n')
  const after = lines.findIndex((line) => /^\s*[^\s#]/.test(line) && indentOf(line) <= indent)
  return [head, ...(after === -1 ? lines : lines.slice(0, after))].join('\n')
}

const indentOf = (line: string) => /^\s*/.exec(line)?.[0].length ?? 0

function standsAlone(edit: TextEdit, text: string): boolean {
  return text.slice(text.lastIndexOf('\n', edit.start - 1) + 1, edit.start).trim() === ''
}
