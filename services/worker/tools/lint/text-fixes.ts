import type { Diagnostic } from '#lint/lint-report.ts'
import type { TextEdit } from '#lint/text-edit.ts'

/** Those that have a fix, without any that touches an earlier one. */
export function separateFixes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const made: TextEdit[] = []
  return diagnostics.filter(({ fix }) => {
    if (fix === undefined || fix.some((edit) => made.some((other) => touches(edit, other)))) return false
    made.push(...fix)
    return true
  })
}

/** `text` with the fixes made; none of them may touch another. */
export function withFixes(text: string, diagnostics: readonly Diagnostic[]): string {
  const edits = diagnostics.flatMap((one) => one.fix ?? []).toSorted((one, other) => one.start - other.start)
  const pieces: string[] = []
  let end = 0
  for (const edit of edits) {
    pieces.push(text.slice(end, edit.start), edit.text)
    end = edit.end
  }
  return pieces.join('') + text.slice(end)
}

function touches(one: TextEdit, other: TextEdit): boolean {
  return one.start <= other.end && other.start <= one.end
}
