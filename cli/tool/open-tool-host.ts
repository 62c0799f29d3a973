import { loadLanguage } from '#syntax/parser.ts'
import { ScriptError } from '#tool-scripts/script-error.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import type { HostFunction } from '../../services/worker/tools/host/host-function.ts'
import { hostFunctions } from '../../services/worker/tools/host/host-functions.ts'
import type { TargetNode } from '../../services/worker/tools/target-node.ts'
import type { Workspace } from '../../services/worker/workspace/open-workspace.ts'

export type ToolHostParts = {
  workspace: Workspace
  /** Undefined: what works on a node is refused. */
  target: TargetNode | undefined
  /** What the script logs. */
  onLog(message: string): void
  /** Closes what was opened for the functions, when the run is over. */
  onEnd(name: string, close: () => Promise<void>): void
}

/** The functions a worker offers to a script, by name; the one place where those of `remora tool run` are chosen. */
export async function openToolHost(parts: ToolHostParts): Promise<ReadonlyMap<string, HostFunction>> {
  const { workspace, target = noTarget(), onLog, onEnd } = parts
  return hostFunctions(workspace, target, {
    linter: openedWhenNeeded(onEnd),
    python: await loadLanguage('python'),
    log: { debug: (_message, fields) => onLog(String(fields?.['message'])) },
  })
}

function openedWhenNeeded(onEnd: ToolHostParts['onEnd']): Pick<PythonLinter, 'lint'> {
  let opened: Promise<PythonLinter> | undefined
  return {
    async lint(text, rules) {
      if (opened === undefined) {
        opened = openPythonLinter()
        const linter = opened
        onEnd('linter', async () => (await linter).close())
      }
      return (await opened).lint(text, rules)
    },
  }
}

/** In the place of a node that was not named. */
function noTarget(): TargetNode {
  const refuse = (): never => {
    throw new ScriptError('RuntimeError', 'there is no node to work on: name one with --node PATH[:QUALIFIED_NAME]')
  }
  return {
    get node() {
      return refuse()
    },
    get rules() {
      return refuse()
    },
    locate: async () => refuse(),
    parts: async () => refuse(),
  }
}
