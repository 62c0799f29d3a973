import type { LintReport } from '#lint/lint-report.ts'
import { misencodedCharacters } from '#python/declared-encoding.ts'
import type { Finding } from './python-facts.ts'

type Linted = { text: string; report: LintReport }

/** A file that did not parse before may stay broken where it was, but not more; its bytes are in the encoding it declares. */
export function parsesAsBefore(before: Linted, after: Linted): Finding {
  if (misencodedCharacters(after.text) > misencodedCharacters(before.text)) {
    return { fault: 'it declares another encoding than the UTF-8 it is written in' }
  }
  const figures = { before: before.report.syntaxErrors.length, after: after.report.syntaxErrors.length }
  const first = after.report.syntaxErrors[0]
  const isWorse = figures.after > figures.before && first !== undefined
  return { ...figures, fault: isWorse ? `line ${first.line}: ${first.message}` : undefined }
}
