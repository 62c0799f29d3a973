import { hasCode } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import { ScriptError, type ExternalFunction } from '#tool-scripts/script-call.ts'
import { AskedQuestion } from '#domain/question.ts'
import { ScriptSuspended } from '#tool-scripts/script-ending.ts'
import { type Workspace, WorkspaceFault } from '../../workspace/open-workspace.ts'
import type { LintDeps } from '../lint/lint-node.ts'
import type { TargetNode } from '../target-node.ts'
import { editNode } from './edit-node.ts'
import { optionalInteger, text } from './external-arguments.ts'
import { docstringExternals, lintExternals } from './node-externals.ts'

export type ExternalDeps = LintDeps & { log: Pick<Log, 'debug'> }

/** The externals of an attempt, by name: all that its tool scripts may call, and their only way out of the sandbox. */
export function attemptExternals(
  workspace: Workspace,
  target: TargetNode,
  deps: ExternalDeps,
): ReadonlyMap<string, ExternalFunction> {
  const all: Record<string, ExternalFunction> = {
    ...fileExternals(workspace),
    ...lintExternals(workspace, target, deps),
    edit_node: editNode(workspace, target, deps),
    ...docstringExternals(workspace, target, deps),
    ask_user: askUser,
    log: ([message]) => deps.log.debug('tool script', { message: String(message).slice(0, 2000) }),
  }
  return new Map(Object.entries(all).map(([name, run]) => [name, withPythonErrors(run)]))
}

/** What the workspace refuses is raised as the exception that a Python author expects; the script may catch it. */
function withPythonErrors(run: ExternalFunction): ExternalFunction {
  return async (args) => {
    try {
      return await run(args)
    } catch (error) {
      if (error instanceof WorkspaceFault) throw new ScriptError(pythonTypes[error.kind], error.message)
      if (hasCode(error, 'TOOL_007')) throw new ScriptError('PermissionError', `TOOL_007: ${error.message}`)
      throw error
    }
  }
}

const pythonTypes = {
  'not-found': 'FileNotFoundError',
  'not-text': 'ValueError',
  'too-large': 'ValueError',
  refused: 'ValueError',
} as const

/** `ask_user` never returns an answer: it suspends the script, which runs again once a person has answered. */
function askUser([question, choices]: readonly unknown[]): never {
  const asked = AskedQuestion.safeParse({ text: question, choices: choices ?? null })
  if (asked.success) throw new ScriptSuspended(asked.data)
  const limits = 'a question has 1 to 3,000 characters and at most 20 different choices of 1 to 100 characters each'
  throw new ScriptError('ValueError', limits)
}

/** `read_file`, `write_file`, `file_exists`, `list_dir` over the attempt's workspace. */
export function fileExternals(workspace: Workspace): Record<string, ExternalFunction> {
  return {
    async read_file([path, startLine, endLine]) {
      const content = await workspace.readText(text(path, 'path'))
      const from = optionalInteger(startLine, 'start_line')
      const to = optionalInteger(endLine, 'end_line')
      return from === undefined && to === undefined ? content : linesBetween(content, from ?? 1, to)
    },
    async write_file([path, content]) {
      await workspace.writeText(text(path, 'path'), text(content, 'content'))
      return { path: text(path, 'path'), bytes: Buffer.byteLength(text(content, 'content')) }
    },
    file_exists: async ([path]) => workspace.exists(text(path, 'path')),
    list_dir: async ([path]) => workspace.list(path === undefined || path === null ? '' : text(path, 'path')),
  }
}

/** Lines are 1-based and inclusive; an end beyond the file is cut to its last line. */
function linesBetween(content: string, from: number, to: number | undefined): string {
  const lines = content.split(/(?<=\n)/)
  const refusal = (reason: string) => new WorkspaceFault('refused', `start_line (${from}) ${reason}`)
  if (from < 1) throw refusal('must be at least 1')
  if (to !== undefined && from > to) throw refusal(`must be <= end_line (${to})`)
  if (from > lines.length) throw refusal(`is beyond end of file (${lines.length} lines)`)
  return lines.slice(from - 1, to).join('')
}
