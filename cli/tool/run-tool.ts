import { defaultPathRules } from '#domain/path-rules.ts'
import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { msSince, untilAborted } from '#platform/clock.ts'
import { openReleaser } from '#platform/service-process.ts'
import { type CheckedScript, checkScriptFile } from '#bundles/check-script-file.ts'
import { type CompiledScript, compileScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool, type RunEnding, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { ScriptError, type ExternalFunction, type ScriptRequest } from '#tool-scripts/script-call.ts'
import type { ScriptListener } from '#tool-scripts/script-event.ts'
import { answeredJournal } from '#tool-scripts/script-ending.ts'
import type { ChosenLimits } from '#tool-scripts/script-limits.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import { AppError } from '#domain/error.ts'
import { readKnownExternals } from '#tool-scripts/external-signatures.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { openTargetNode, type TargetNode } from '../../services/worker/tools/target-node.ts'
import { openWorkspace, type Workspace } from '../../services/worker/workspace/open-workspace.ts'
import type { CliConfig } from '../cli-config.ts'
import type { AnswerQuestion } from './answer-questions.ts'
import { findTarget } from './find-target.ts'
import { openFolder, requireFolder, unseenFolder } from './open-folder.ts'
import { type GivenInputs, workerInputs, toolInputs } from './tool-inputs.ts'
import { type WorkspaceChange, workspaceChanges } from './workspace-changes.ts'
import { attemptExternals } from '../../services/worker/tools/externals/attempt-externals.ts'
import { findingText } from '../finding-text.ts'

export type ToolRunOrder = {
  file: string
  given: GivenInputs
  /** The folder the script sees. */
  workspace: string
  /** `PATH[:QUALIFIED_NAME]`, relative to `workspace`. */
  node: string | undefined
  limits: NonNullable<ChosenLimits['preset']>
  /** Overrides that of its bundle. */
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
  /** A script that asks runs again after each answer, with its own events each time. */
  onEvent?: ScriptListener | undefined
  answer: AnswerQuestion
}

/**
 * Runs one tool script as a worker would, over a folder that is only read. However the script ends, it is an ending in
 * the result. Throws when the script could not be run (AGENT_001, TOOL_002, DISC_005, RUN_002, CONFIG_003), when an
 * external itself fails, and the signal's reason. Closes everything it opened.
 */
export async function runTool(order: ToolRunOrder, deps: ToolRunDeps, signal: AbortSignal): Promise<ToolRun> {
  const { script, checked } = await readScript(order.file, order.profile, signal)
  const top = await requireFolder(order.workspace)
  const folder = needsFiles(script, order) ? await openFolder(top, signal) : unseenFolder(top)
  const workspace = openWorkspace(folder)
  const node = order.node === undefined ? undefined : await findTarget(order.node, folder, deps.packs, signal)
  const target = node === undefined ? undefined : await openTargetNode(node, workspace, { rules: defaultPathRules })
  const wanted = new Set(script.declarations.inputs.map(({ name }) => name))
  const inputs = toolInputs(script, order.given, await workerInputs(order.file, wanted, { target, workspace }))
  const { add: onEnd, release } = openReleaser()
  try {
    const externals = await toolExternals({ workspace, target, onLog: deps.onLog, onEnd })
    const pool = openScriptPool({ size: 1, limits: { preset: order.limits } })
    onEnd('script process', pool.close)
    const start = performance.now()
    const { onEvent, answer } = deps
    const request = { inputs, externals: Object.fromEntries(externals), ...(onEvent === undefined ? {} : { onEvent }) }
    const ending = await runToEnd({ pool, script, request, answer }, signal)
    const durationMs = msSince(start)
    const changes = await workspaceChanges(workspace, (path) => folder.kindAt(path) === 'file')
    return { script, checked, top, inputs, ending, changes, durationMs }
  } finally {
    await release()
  }
}

type ReadScript = { script: CompiledScript; checked: CheckedScript }

/**
 * Reads and checks a script. DISC_005 when it cannot be read; AGENT_001, with the lines of `remora check`, when it has
 * errors. `chosen` overrides the profile of its bundle.
 */
async function readScript(file: string, chosen: ScriptProfile | undefined, signal: AbortSignal): Promise<ReadScript> {
  if (!file.endsWith('.pym')) throw new AppError('AGENT_001', `${file} is no .pym file`)
  const checked = await checkedFile(file, chosen, signal)
  if ('fault' in checked) throw new AppError('DISC_005', `${file}: ${checked.fault}`)
  const { source, profile, faults } = checked
  const errors = faults.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return { script: await compileScript({ path: file, source }, profile), checked }
  const lines = source.split('\n')
  const shown = errors.map((fault) => findingText({ file, ...fault, source: lines[fault.line - 1] ?? '' }))
  throw new AppError('AGENT_001', `${file} breaks the rules of tool scripts:\n${shown.join('').trimEnd()}`)
}

async function checkedFile(
  file: string,
  profile: ScriptProfile | undefined,
  signal: AbortSignal,
): ReturnType<typeof checkScriptFile> {
  const typeChecker = openTypeChecker()
  try {
    const options = {
      knownExternals: await readKnownExternals(),
      typeChecker,
      ...(profile === undefined ? {} : { profile }),
    }
    return await untilAborted(checkScriptFile(file, options), signal)
  } finally {
    await typeChecker.close()
  }
}

const withoutFiles = new Set(['log', 'ask_user'])

/** A large folder is not walked for a script that asks for nothing in it. */
function needsFiles({ declarations }: CompiledScript, { node }: ToolRunOrder): boolean {
  return node !== undefined || declarations.externals.some(({ name }) => !withoutFiles.has(name))
}

type ExternalParts = {
  workspace: Workspace
  /** Undefined: externals that work on a node are refused. */
  target: TargetNode | undefined
  onLog(message: string): void
  /** Registers what to close when the run is over. */
  onEnd(name: string, close: () => Promise<void>): void
}

/** The externals that a worker offers, over the folder of `remora tool run`. */
async function toolExternals(parts: ExternalParts): Promise<ReadonlyMap<string, ExternalFunction>> {
  const { workspace, target = noTarget(), onLog, onEnd } = parts
  return attemptExternals(workspace, target, {
    linter: openedWhenNeeded(onEnd),
    python: await loadLanguage('python'),
    log: { debug: (_message, fields) => onLog(String(fields?.['message'])) },
  })
}

function openedWhenNeeded(onEnd: ExternalParts['onEnd']): Pick<PythonLinter, 'lint'> {
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

/** Stands for the node when none was named. */
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

type Running = {
  pool: Pick<ScriptPool, 'run'>
  script: CompiledScript
  request: ScriptRequest
  answer: AnswerQuestion
}

/** Runs the script again after each answer, over its journal, as a worker does in its next attempt. */
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
