import type { Log } from '#platform/log.ts'
import { ScriptError } from '#tool-scripts/script-error.ts'
import { WorkspaceFault } from '../../workspace/workspace-fault.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { LintDeps } from '../lint/lint-node.ts'
import type { TargetNode } from '../target-node.ts'
import { askFunction } from './ask-function.ts'
import { docstringFunctions } from './docstring-functions.ts'
import { fileFunctions } from './file-functions.ts'
import type { HostFunction } from './host-function.ts'
import { nodeFunctions } from './node-functions.ts'
import { lintFunctions } from './lint-functions.ts'

export type HostDeps = LintDeps & { log: Pick<Log, 'debug'> }

/** What a tool script of this attempt may call: its only way out of the sandbox. */
export function hostFunctions(
  workspace: Workspace,
  target: TargetNode,
  deps: HostDeps,
): ReadonlyMap<string, HostFunction> {
  const all: Record<string, HostFunction> = {
    ...fileFunctions(workspace),
    ...lintFunctions(workspace, target, deps),
    ...nodeFunctions(workspace, target, deps),
    ...docstringFunctions(workspace, target, deps),
    ...askFunction,
    log: async ([message]) => deps.log.debug('tool script', { message: String(message).slice(0, 2000) }),
  }
  return new Map(Object.entries(all).map(([name, run]) => [name, withPythonErrors(run)]))
}

/** What the workspace refuses becomes the exception a Python author expects, which the script may catch. */
function withPythonErrors(run: HostFunction): HostFunction {
  return async (args) => {
    try {
      return await run(args)
    } catch (error) {
      if (error instanceof WorkspaceFault) throw new ScriptError(pythonTypes[error.kind], error.message)
      if (isPathFault(error)) throw new ScriptError('PermissionError', `TOOL_007: ${error.message}`)
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

function isPathFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'TOOL_007'
}
