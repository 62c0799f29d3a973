/**
 * Entry of the thread that Ruff runs in: no file system, and only the configuration it is given. It says Ruff's version,
 * then answers each question with one report. Nothing is caught: a throw leaves the wasm's memory damaged, so the thread
 * dies.
 */
import { parentPort } from 'node:worker_threads'
import type { ThreadReply } from '#platform/thread-link.ts'
import type { LintReport } from './lint-report.ts'
import { lintText, ruffVersion, type LintQuestion } from './lint-text.ts'

const say = (reply: ThreadReply<LintReport>) => parentPort?.postMessage(reply)

say({ version: ruffVersion() })
parentPort?.on('message', (question: LintQuestion) => say({ report: lintText(question) }))
