import { defaultPathRules } from '#domain/path-rules.ts'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { msSince } from '#platform/clock.ts'
import { openReleaser } from '#platform/shutdown.ts'
import type { CheckedScript } from '#bundles/check-script-file.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool, type RunEnding, type ScriptPool } from '#tool-scripts/script-pool.ts'
import type { ScriptRequest } from '#tool-scripts/script-call.ts'
import type { ScriptListener } from '#tool-scripts/script-event.ts'
import { answeredJournal } from '#tool-scripts/script-suspended.ts'
import type { ChosenLimits } from '#tool-scripts/script-limits.ts'
import { openTargetNode } from '../../services/worker/tools/target-node.ts'
import { openWorkspace } from '../../services/worker/workspace/open-workspace.ts'
import type { CliConfig } from '../config.ts'
import type { AnswerQuestion } from './answer-questions.ts'
import { findTarget } from './find-target.ts'
import { hostInputs } from './host-inputs.ts'
import { openFolder, requireFolder, unseenFolder } from './open-folder.ts'
import { openToolHost } from './open-tool-host.ts'
import { readScript } from './read-script.ts'
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
  /** Instead of what its bundle says. */
  profile?: ScriptProfile | undefined
}

export type ToolRun = {
  script: CompiledScript
  checked: CheckedScript
  /** The real path of the workspace. */
  top: string
  inputs: Record<string, unknown>
  ending: RunEnding
  changes: WorkspaceChange[]
  durationMs: number
}

export type ToolRunDeps = {
  packs: CliConfig['queries']
  onLog(message: string): void
  /** A script that asks is run once for each answer, with events of its own each time. */
  onEvent?: ScriptListener | undefined
  answer: AnswerQuestion
}

/**
 * Runs one tool script as a worker would, over a folder that is only read. Whatever the script does is an ending; thrown
 * is what kept it from being run (AGENT_001, TOOL_002, DISC_005, RUN_002, CONFIG_003), a host function's own failure and
 * the signal's reason. Nothing it started is left when it ends.
 */
export async function runTool(order: ToolRunOrder, deps: ToolRunDeps, signal: AbortSignal): Promise<ToolRun> {
  const { script, checked } = await readScript(order.file, order.profile, signal)
  const top = await requireFolder(order.workspace)
  const folder = needsFiles(script, order) ? await openFolder(top, signal) : unseenFolder(top)
  const workspace = openWorkspace(folder)
  const node = order.node === undefined ? undefined : await findTarget(order.node, folder, deps.packs, signal)
  const target = node === undefined ? undefined : await openTargetNode(node, workspace, { rules: defaultPathRules })
  const wanted = new Set(script.declarations.inputs.map(({ name }) => name))
  const inputs = toolInputs(script, order.given, await hostInputs(order.file, wanted, { target, workspace }))
  const { add: onEnd, release } = openReleaser()
  try {
    const host = await openToolHost({ workspace, target, onLog: deps.onLog, onEnd })
    const pool = openScriptPool({ size: 1, limits: { preset: order.limits } })
    onEnd('script process', pool.close)
    const start = performance.now()
    const { onEvent, answer } = deps
    const request = { inputs, externals: Object.fromEntries(host), ...(onEvent === undefined ? {} : { onEvent }) }
    const ending = await runToEnd({ pool, script, request, answer }, signal)
    const durationMs = msSince(start)
    const changes = await workspaceChanges(workspace, (path) => folder.kindAt(path) === 'file')
    return { script, checked, top, inputs, ending, changes, durationMs }
  } finally {
    await release()
  }
}

type Running = {
  pool: Pick<ScriptPool, 'run'>
  script: CompiledScript
  request: ScriptRequest
  answer: AnswerQuestion
}

/** As between two attempts of a worker: each answer runs the script again over all that it was answered before. */
async function runToEnd({ pool, script, request, answer }: Running, signal: AbortSignal): Promise<RunEnding> {
  let ending = await pool.run(script, request, signal)
  while (ending.kind === 'suspended') {
    const text = await answer(ending.question, signal)
    if (text === undefined) return ending
    const journal = answeredJournal(ending, text)
    ending = await pool.run(script, { ...request, journal }, signal)
  }
  return ending
}

const withoutFiles = new Set(['log', 'ask_user'])

/** The folder may be large, and is not walked for a script that asks for nothing of it. */
function needsFiles({ declarations }: CompiledScript, { node }: ToolRunOrder): boolean {
  return node !== undefined || declarations.externals.some(({ name }) => !withoutFiles.has(name))
}
