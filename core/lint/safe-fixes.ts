import type { TextEdit } from './text-edit.ts'

/**
 * Rules whose fix Ruff marks safe every time. The wasm build does not say which fixes are safe, so the list is
 * measured: `ruff 0.17.3 check --isolated --target-version py310 --output-format json` over CPython 3.11's library gave
 * 34,196 faults; these are the rules all of whose fixes had `applicability: safe` (F541: all but two, see below), and
 * W292, the newline at the end of a file. Left out on purpose: SIM117 and RET505 to RET508, which reshape whole blocks;
 * UP030, which made `"{0}{1:+}"` into `"{}{1:+}"`; and UP006, UP007, UP033, UP041 and UP045, whose fixes need a Python
 * newer than 3.8: which one a project runs on is not known.
 */
const safeRules = new Set(
  (
    'B009 B010 B013 B033 C413 C420 E401 E703 E713 E714 F401 F504 F541 F632 F811 PIE790 PIE804 PIE808 RET501 RET502 ' +
    'SIM114 SIM208 SIM300 SIM905 SIM910 UP003 UP004 UP005 UP008 UP009 UP010 UP011 UP012 UP015 UP018 UP019 UP020 UP021 ' +
    'UP024 UP025 UP032 UP034 UP037 UP039 UP050 W292 W605'
  ).split(' '),
)

/** Whether a fix of rule `code` may be made without a person looking at what the code does. */
export function isSafeFix(code: string, edits: readonly TextEdit[], text: string): boolean {
  if (!safeRules.has(code)) return false
  // Without its prefix an f-string that stands alone would become a docstring: the one case Ruff marks unsafe (F541).
  return code !== 'F541' || edits.every((edit) => !standsAlone(edit, text))
}

function standsAlone(edit: TextEdit, text: string): boolean {
  return text.slice(text.lastIndexOf('\n', edit.start - 1) + 1, edit.start).trim() === ''
}
