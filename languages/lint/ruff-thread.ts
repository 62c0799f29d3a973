import type { LintRules } from '#domain/path-rules.ts'
import { unreachable } from '#domain/error.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import type { LintReport } from './lint-report.ts'
import {
  keepFormat,
  lintText,
  refusalOfOptions,
  ruffVersion,
  type FormatQuestion,
  type LintQuestion,
} from './lint-text.ts'

export type RuffQuestion =
  | ({ kind: 'lint' } & LintQuestion)
  | ({ kind: 'format' } & FormatQuestion)
  | { kind: 'options'; options: LintRules['options'] }
  | { kind: 'version' }

export type RuffReport =
  | { kind: 'lint'; report: LintReport }
  | { kind: 'format'; text: string }
  | { kind: 'options'; refusal: string | undefined }
  | { kind: 'version'; version: string }

function answerTo(question: RuffQuestion): RuffReport {
  switch (question.kind) {
    case 'lint':
      return { kind: 'lint', report: lintText(question) }
    case 'format':
      return { kind: 'format', text: keepFormat(question) }
    case 'options':
      return { kind: 'options', refusal: refusalOfOptions(question.options) }
    case 'version':
      return { kind: 'version', version: ruffVersion() }
    default:
      return unreachable(question)
  }
}

answerRequests<RuffQuestion, RuffReport>((question, begin) => {
  begin(0)
  return answerTo(question)
})
