import type { TextEdit } from '../../lint/text-edit.ts'

/**
 * Rules whose fixes are made without a review by a person. The wasm build does not report which fixes are safe, so the
 * list is measured (docs/decisions/0042): every fix that Ruff 0.17.3 calls safe was made, rule by rule, in packages of
 * PyPI, whose own tests ran before and after, and in CPython 3.11's library, which had to compile; then the fixes of
 * the whole list at once in all of them, with the library's tests (bench/repositories/safe-list.md). A rule is in the
 * list only if it occurred there, changed no test and lost no comment. Left out although Ruff calls them safe: rules
 * that swap operands (SIM300), merge or reshape branches (SIM114, SIM117, RET505 to RET508, PLR5501), write long lines
 * (SIM905), change the text of docstrings, which may be data (D202, D209, D212, D403, D412, D413), or rewrite types
 * that are read at run time (UP006, UP007, UP045). Where a fix is safe in some places only, `hasSafePlace` knows these from the
 * text, kept-evaluations.ts from the code, and fixable-faults.ts from all imports of the file. Which imports F401 and F811 remove,
 * fixable-faults.ts decides.
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
  if (builtinRules.has(code) && importsEverything.test(text)) return false
  return edits.every((edit) => hasSafePlace(code, edit, text))
}

/** Code that may look up a local variable by its name. */
const readsNamesAsText = /\b(?:locals|vars|dir|eval|exec|globals|_getframe)\s*\(/

/** Rules about functions and classes of Python's own, which `from m import *` may replace without Ruff's notice. */
const builtinRules = new Set('B009 B010 C420 FURB105 PIE807 PIE808 RUF010 UP004 UP015 UP018 UP024 UP041'.split(' '))
const importsEverything = /^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+\*/m

/** Rules that make code of a text: an attribute, the name of an argument. */
const namingRules = new Set(['B009', 'B010', 'PIE804', 'UP032'])

/** False for those fixes of a rule that Ruff calls unsafe, or should. */
function hasSafePlace(code: string, edit: TextEdit, text: string): boolean {
  const was = text.slice(edit.start, edit.end)
  if (namingRules.has(code) && !keepsNames(edit.text, was)) return false
  switch (code) {
    // Without its prefix, an f-string that is a statement of its own could become a docstring.
    case 'F541':
      return !standsAlone(edit, text)
    // Only an unused name of an exception is removed: the value of an unused variable may be computed for its effect.
    case 'F841':
      return edit.text === '' && removesUnusedName(edit, text)
    // FastAPI and others look at the parameters of what they are given, and `list` has one.
    case 'PIE807':
      return /(?:\b(?:default_)?factory\s*=\s*|\bdefaultdict\(\s*)$/.test(text.slice(0, edit.start))
    // range(0, *x) may have three arguments.
    case 'PIE808':
      return !text.slice(edit.end).startsWith('*')
    // Only Windows has it: elsewhere to name it is an error, which code may wait for.
    case 'UP024':
      return !/\bWindowsError\b/.test(was)
    // collections.abc.Iterator is not typing.Iterator, for a class made of it and for whoever reads an annotation.
    case 'UP035':
      return /^from\s+(?:collections|pipes)\s+import\b/.test(was)
    default:
      return true
  }
}

/**
 * Is true when the names that were text are the same as code. Python reads a name in its normal form NFKC, puts the class before one
 * that begins with two underscores, and lets nobody bind `__debug__`; a text it takes as it is.
 */
function keepsNames(code: string, was: string): boolean {
  const names: readonly string[] = code.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu) ?? []
  const isMangled = /(?:["']|\.)__(?!\w*__\b)\w/.test(was)
  return !isMangled && !names.includes('__debug__') && names.every((name) => name === name.normalize('NFKC'))
}

/**
 * Is true when ` as NAME` goes, and nothing else in its function has the name, comments included: Python deletes the name at the end
 * of the handler, and then one that was bound before is gone. Other handlers may bind it, and read it where they do.
 */
function removesUnusedName({ start, end }: TextEdit, text: string): boolean {
  const [, name] = /^ as (\w+)$/.exec(text.slice(start, end)) ?? []
  if (name === undefined || readsNamesAsText.test(text)) return false
  const mention = new RegExp(`(?<!\\w)${name}(?!\\w)`, 'u')
  const body = handlerBody(text, start, end)
  if (/"""|'''/.test(body) || mention.test(body)) return false
  return !withoutHandlers(aroundHandler(text, start), name).some((line) => mention.test(line))
}

/** The function around an index, as far as its indentation tells; the whole text, where there is none. */
function aroundHandler(text: string, start: number): string[] {
  const lines = text.split('\n')
  const row = text.slice(0, start).split('\n').length - 1
  let depth = indentOf(lines[row] ?? '')
  for (let at = row - 1; at >= 0 && depth > 0; at--) {
    const line = lines[at] ?? ''
    if (!/^\s*[^\s#)]/.test(line) || indentOf(line) >= depth) continue
    depth = indentOf(line)
    if (!/^\s*(?:async\s+)?def\s/.test(line)) continue
    const end = lines.findIndex((one, place) => place > at && /^\s*[^\s#)]/.test(one) && indentOf(one) <= depth)
    return lines.slice(at, end === -1 ? undefined : end)
  }
  return lines
}

function withoutHandlers(lines: readonly string[], name: string): string[] {
  const bound = new RegExp(`^[ \\t]*except\\b.* as ${name}(?!\\w)`, 'u')
  let inside: number | undefined
  return lines.filter((line) => {
    if (inside !== undefined && /^\s*[^\s#]/.test(line) && indentOf(line) <= inside) inside = undefined
    if (inside === undefined && bound.test(line)) inside = indentOf(line)
    return inside === undefined
  })
}

/** Returns the text from behind the name to the next code that is not further in than the `except`. */
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
