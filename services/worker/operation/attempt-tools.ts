import type { ScriptPool } from '#tool-scripts/script-pool.ts'
import { hostFunctions, type HostDeps } from '../tools/host/host-functions.ts'
import { scriptOf, scriptTool } from '../tools/script-tool.ts'
import type { Tool, ToolSet } from '../tools/tool-set.ts'
import type { RunningAttempt } from './running-attempt.ts'

export type AttemptToolDeps = HostDeps & { scripts: Pick<ScriptPool, 'run'> }

/** The bundle's tools, bound to this attempt's workspace and node. `submit_result` is the loop's own. */
export function attemptTools(
  running: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'target'>,
  deps: AttemptToolDeps,
): ToolSet {
  const { bundle, scripts, settings } = running.bundle
  const host = hostFunctions(running.workspace, running.target, deps)
  const known = hostInputsOf(running, settings)
  const bound = new Map<string, Tool>()
  for (const definition of bundle.tools) {
    if (bundle.scripts[definition.name] === undefined) continue
    const names = bundle.hostInputs[definition.name] ?? []
    const hostInputs = Object.fromEntries(names.map((name) => [name, known[name]]))
    const script = scriptOf(scripts, definition.name)
    bound.set(definition.name, scriptTool({ definition, script, hostInputs, host, pool: deps.scripts }))
  }
  return { definitions: bundle.tools, get: (name) => bound.get(name) }
}

function hostInputsOf(
  { attempt }: Pick<RunningAttempt, 'attempt'>,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { node } = attempt
  return {
    node_id: node.nodeId,
    node_name: node.name,
    node_kind: node.kind,
    file_path: node.path,
    language: node.language,
    workspace_id: attempt.operationId,
    settings,
  }
}
