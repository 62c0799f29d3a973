/**
 * Entry of the thread that Ruff runs in: no file system, and only the configuration it is given. It says Ruff's version,
 * then answers each question with one report. A crash is not caught: it leaves the wasm's memory damaged, so the thread
 * dies.
 */
import { parentPort } from 'node:worker_threads'
import type { LintRules } from '#domain/path-rules.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { ThreadReply } from '#platform/thread-link.ts'
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

export type RuffReport =
  | { kind: 'lint'; report: LintReport }
  | { kind: 'format'; text: string }
  | { kind: 'options'; refusal: string | undefined }

function answerTo(question: RuffQuestion): RuffReport {
  switch (question.kind) {
    case 'lint':
      return { kind: 'lint', report: lintText(question) }
    case 'format':
      return { kind: 'format', text: keepFormat(question) }
    case 'options':
      return { kind: 'options', refusal: refusalOfOptions(question.options) }
    default:
      return unreachable(question)
  }
}

const say = (reply: ThreadReply<RuffReport>) => parentPort?.postMessage(reply)

say({ version: ruffVersion() })
parentPort?.on('message', (question: RuffQuestion) => say({ report: answerTo(question) }))
