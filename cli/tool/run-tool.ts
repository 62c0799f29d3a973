import { msSince } from '#platform/clock.ts'
import { openReleaser } from '#platform/shutdown.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import type { ScriptEnding } from '#tool-scripts/script-ending.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import type { ChosenLimits } from '#tool-scripts/script-limits.ts'
import { openTargetNode } from '../../services/worker/tools/target-node.ts'
import { openWorkspace } from '../../services/worker/workspace/open-workspace.ts'
import type { CliConfig } from '../config.ts'
import { findTarget } from './find-target.ts'
import { hostInputs } from './host-inputs.ts'
import { openFolder, requireFolder, unseenFolder } from './open-folder.ts'
import { openToolHost } from './open-tool-host.ts'
import { readScript } from './read-script.ts'
import { recordExternals, type ExternalCall } from './record-externals.ts'
import { toolInputs, type GivenInputs } from './tool-inputs.ts'
import { workspaceChanges, type WorkspaceChange } from './workspace-changes.ts'

export type ToolRunOrder = {
  file: string
  given: GivenInputs
  /** The folder the script sees. */
  workspace: string
  /** `PATH[:QUALIFIED_NAME]`, relative to `workspace`. */
  node: string | undefined
  limits: NonNullable<ChosenLimits['preset']>
}

export type ToolRun = {
  script: CompiledScript
  /** The real path of the workspace. */
  top: string
  inputs: Record<string, unknown>
  ending: ScriptEnding
  externals: ExternalCall[]
  changes: WorkspaceChange[]
  durationMs: number
}

export type ToolRunDeps = { packs: CliConfig['queries']; onLog(message: string): void }

/**
 * Runs one tool script as a worker would, over a folder that is only read. Whatever the script does is an ending; thrown
 * is what kept it from being run (AGENT_001, TOOL_002, DISC_005, RUN_002, CONFIG_003), a host function's own failure and
 * the signal's reason. Nothing it started is left when it ends.
 */
export async function runTool(order: ToolRunOrder, deps: ToolRunDeps, signal: AbortSignal): Promise<ToolRun> {
  const script = await readScript(order.file)
  const top = await requireFolder(order.workspace)
  const folder = needsFiles(script, order) ? await openFolder(top, signal) : unseenFolder(top)
  const workspace = openWorkspace(folder)
  const node = order.node === undefined ? undefined : await findTarget(order.node, folder, deps.packs, signal)
  const target = node === undefined ? undefined : await openTargetNode(node, workspace)
  const wanted = new Set(script.declarations.inputs.map(({ name }) => name))
  const inputs = toolInputs(script, order.given, await hostInputs(order.file, wanted, { target, workspace }))
  const { add: onEnd, release } = openReleaser()
  try {
    const host = await openToolHost({ workspace, target, onLog: deps.onLog, onEnd })
    const externals: ExternalCall[] = []
    const pool = openScriptPool({ size: 1, limits: { preset: order.limits } })
    onEnd('script process', pool.close)
    const start = performance.now()
    const answers = recordExternals(host, script.declarations.externals, externals)
    const ending = await pool.run(script, { inputs, externals: answers }, signal)
    const durationMs = msSince(start)
    const changes = await workspaceChanges(workspace, (path) => folder.kindAt(path) === 'file')
    return { script, top, inputs, ending, externals, changes, durationMs }
  } finally {
    await release()
  }
}

const withoutFiles = new Set(['log', 'ask_user'])

/** The folder may be large, and is not walked for a script that asks for nothing of it. */
function needsFiles({ declarations }: CompiledScript, { node }: ToolRunOrder): boolean {
  return node !== undefined || declarations.externals.some(({ name }) => !withoutFiles.has(name))
}
