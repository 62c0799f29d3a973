/**
 * Entry of the thread that Ruff runs in: no file system, no configuration of its own. It says Ruff's version, then
 * answers each text with one report. Nothing is caught: a throw leaves the wasm's memory damaged, so the thread dies.
 */
import { parentPort } from 'node:worker_threads'
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs'
import { lintReportOf, type LintReport } from './lint-report.ts'
import type { ThreadReply } from './thread-link.ts'

/** The rule groups that are looked at: pycodestyle, Pyflakes and the groups with mechanical fixes. */
const selected = ['E', 'F', 'W', 'UP', 'B', 'C4', 'PIE', 'RET', 'SIM']

/** Line length and tab indentation are a formatter's and a project's choice, not faults. */
const ignored = ['E501', 'W191', 'E101', 'UP035']

const options = { 'target-version': 'py310', lint: { select: selected, ignore: ignored } }
const workspace = new Workspace(options, PositionEncoding.Utf16)

const say = (reply: ThreadReply<LintReport>) => parentPort?.postMessage(reply)

say({ version: Workspace.version() })
parentPort?.on('message', (text: string) => say({ report: lintReportOf(workspace.check(text), text) }))
