import type { ScriptPool } from '#tool-scripts/script-pool.ts'
import { hostFunctions, type HostDeps } from '../../tools/host/host-functions.ts'
import { scriptOf, scriptTool } from '../../tools/script-tool.ts'
import type { Tool, ToolSet } from '../../tools/tool-set.ts'
import { hostInputs } from './host-inputs.ts'
import type { RelatedPaths } from '../start/related-paths.ts'
import type { RunningAttempt } from './running-attempt.ts'

export type AttemptToolDeps = HostDeps & { scripts: Pick<ScriptPool, 'run'>; relatedPaths: RelatedPaths }

/** The bundle's tools, bound to this attempt's workspace and node. `submit_result` is the loop's own. */
export function attemptTools(
  running: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'target'>,
  deps: AttemptToolDeps,
): ToolSet {
  const { bundle, scripts } = running.bundle
  const host = hostFunctions(running.workspace, running.target, deps)
  const bound = new Map<string, Tool>()
  for (const definition of bundle.tools) {
    if (bundle.scripts[definition.name] === undefined) continue
    const names = bundle.hostInputs[definition.name] ?? []
    const script = scriptOf(scripts, definition.name)
    const inputs = () => hostInputs(names, running, deps.relatedPaths)
    const parts = {
      definition,
      script,
      hostInputs: inputs,
      host,
      limits: bundle.file.limits.script,
      pool: deps.scripts,
      log: deps.log,
    }
    bound.set(definition.name, scriptTool(parts))
  }
  return { definitions: bundle.tools, get: (name) => bound.get(name) }
}
