import { defaultPathRules, defaultRulesOf, goLintRules, isGo, type PathRules } from '#domain/path-rules.ts'
import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { msSince, untilAborted } from '#platform/clock.ts'
import { openReleaser } from '#platform/service-process.ts'
import { bundleOfScript, type CheckedScript, checkScriptFile } from '#bundles/check-script-file.ts'
import { type CompiledScript, compileScript } from '#tool-scripts/compiled-script.ts'
import { openScriptPool, type RunEnding } from '#tool-scripts/script-pool.ts'
import { ScriptError } from '#tool-scripts/script-call.ts'
import type { ScriptListener } from '#tool-scripts/script-event.ts'
import { answeredJournal } from '#tool-scripts/script-ending.ts'
import type { ChosenLimits } from '#tool-scripts/script-limits.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { findGofmt } from '#languages/go/lint/gofmt-process.ts'
import { type Linter, openLinter } from '#languages/lint/linter.ts'
import { AppError } from '#domain/error.ts'
import { readKnownExternals } from '#tool-scripts/external-signatures.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { openSyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import { openTestProofs } from '#stages/operate/tools/tests/prove-tests.ts'
import { openTargetNode, type TargetNode } from '#stages/operate/tools/target-node.ts'
import { openWorkspace, type Workspace } from '#stages/operate/workspace/open-workspace.ts'
import { openLineSearcher } from '#stages/operate/workspace/search-files.ts'
import type { CliConfig } from '../cli-config.ts'
import type { AnswerQuestion } from './answer-questions.ts'
import { findTarget } from './find-target.ts'
import { type FolderLayer, openFolder, requireFolder, unseenFolder } from './open-folder.ts'
import { type GivenInputs, toolInputs, workerInputs } from './tool-inputs.ts'
import { type WorkspaceChange, workspaceChanges } from './workspace-changes.ts'
import { attemptExternals } from '#stages/operate/tools/externals/attempt-externals.ts'
import type { ReportDeps } from '#stages/operate/tools/externals/report-externals.ts'
import { diagnosticText } from '../diagnostic-text.ts'
import { defaultProject } from '#domain/ids.ts'
import { openSandbox, type SandboxOptions } from '#sandbox/open-sandbox.ts'
import type { SandboxLimits } from '#sandbox/sandboxed-program.ts'
import { type AttemptPrograms, attemptPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { openSnapshotArchives } from '#sandbox/snapshot-archives.ts'

export type ToolRunOrder = {
  file: string
  given: GivenInputs
  workspace: string
  /** `PATH[:QUALIFIED_NAME]`, relative to `workspace`. */
  node: string | undefined
  limits: NonNullable<ChosenLimits['preset']>
  profile?: ScriptProfile | undefined
}

export type ToolRun = {
  script: CompiledScript
  checked: CheckedScript
  top: string
  inputs: Record<string, unknown>
  ending: RunEnding
  changes: WorkspaceChange[]
  durationMs: number
}

export type ToolRunDeps = {
  packs: CliConfig['queries']
  sandbox: CliConfig['sandbox']
  onLog(message: string): void
  /** A script that asks runs again after each answer, with its own events each time. */
  onEvent?: ScriptListener | undefined
  answer: AnswerQuestion
}

/** Bounds tests as those of a bundle that names no bounds. */
const testLimits = { runs: 3, mutants: 8 }

/**
 * Runs one tool script as a worker would, over a folder that is only read. However the script ends, it is an ending in
 * the result. Throws when the script could not be run (AGENT_001, TOOL_002, DISC_005, RUN_002, CONFIG_003), when an
 * external itself fails, and the signal's reason. Closes everything it opened.
 */
export async function runTool(order: ToolRunOrder, deps: ToolRunDeps, signal: AbortSignal): Promise<ToolRun> {
  const { script, checked } = await readScript(order.file, order.profile, signal)
  const top = await requireFolder(order.workspace)
  const folder = needsFiles(script, order)
    ? await openFolder(top, { signal, env: deps.sandbox.env })
    : unseenFolder(top)
  const workspace = openWorkspace(folder)
  const node = order.node === undefined ? undefined : await findTarget(order.node, folder, deps.packs, signal)
  const rulesOf = await rulesHere(deps.sandbox)
  const target = node === undefined ? undefined : await openTargetNode(node, workspace, { rules: rulesOf(node.path) })
  const wanted = new Set(script.declarations.inputs.map(({ name }) => name))
  const inputs = toolInputs(script, order.given, await workerInputs(order.file, wanted, { target, workspace }))
  const { add: onEnd, release } = openReleaser()
  const [searcher, syntax] = [openLineSearcher(), openSyntaxChecker()]
  onEnd('search', searcher.close)
  onEnd('parser', syntax.close)
  try {
    const programs = await folderPrograms(order.file, { folder, workspace }, { sandbox: deps.sandbox, onEnd, signal })
    const on = target ?? noTarget()
    const externals = attemptExternals(workspace, on, {
      programs,
      syntax,
      tests: openTestProofs({ limits: testLimits, target: on, workspace, programs: () => programs }, { syntax }),
      rulesOf: async (path) => rulesOf(path),
      signal,
      linter: openedWhenNeeded(deps.sandbox, onEnd),
      searcher,
      related: async () => undefined,
      reports: unheardReports,
      python: await loadLanguage('python'),
      log: { debug: (_message, fields) => deps.onLog(String(fields?.['message'])) },
    })
    const pool = openScriptPool({ size: 1, limits: { preset: order.limits } })
    onEnd('script process', pool.close)
    const start = performance.now()
    const request = { inputs, externals: Object.fromEntries(externals), onEvent: deps.onEvent }
    let ending = await pool.run(script, request, signal)
    // Runs again after each answer, over the journal, as a worker does in its next attempt.
    while (ending.kind === 'suspended' && 'question' in ending) {
      const answer = await deps.answer(ending.question, signal)
      if (answer === undefined) break
      ending = await pool.run(script, { ...request, journal: answeredJournal(ending, answer) }, signal)
    }
    const durationMs = msSince(start)
    const changes = await workspaceChanges(workspace)
    return { script, checked, top, inputs, ending, changes, durationMs }
  } finally {
    await release()
  }
}

/** Takes reports and keeps none: the answer of the script is all that is shown. */
const unheardReports: ReportDeps = {
  operationId: 'o0',
  turn: () => 1,
  exists: () => true,
  reportedBefore: async () => [],
  storeArtifact: async () => {},
  emit: () => {},
}

/** Throws DISC_005 when a script cannot be read; AGENT_001, with the lines of `remora check`, when it has errors. */
async function readScript(file: string, chosen: ScriptProfile | undefined, signal: AbortSignal) {
  if (!file.endsWith('.pym')) throw new AppError('AGENT_001', `${file} is no .pym file`)
  const typeChecker = openTypeChecker()
  try {
    const options = { knownExternals: await readKnownExternals(), typeChecker, profile: chosen }
    const checked = await untilAborted(checkScriptFile(file, options), signal)
    if ('fault' in checked) throw new AppError('DISC_005', `${file}: ${checked.fault}`)
    const { source, profile, faults } = checked
    const errors = faults.filter(({ severity }) => severity === 'error')
    if (errors.length === 0) return { script: await compileScript({ path: file, source }, profile), checked }
    const lines = source.split('\n')
    const shown = errors.map((fault) => diagnosticText({ file, ...fault, source: lines[fault.line - 1] ?? '' }))
    throw new AppError('AGENT_001', `${file} breaks the rules of tool scripts:\n${shown.join('').trimEnd()}`)
  } finally {
    await typeChecker.close()
  }
}

const withoutFiles = new Set(['log', 'ask_user'])

/** A large folder is not walked for a script that asks for nothing in it. */
function needsFiles({ declarations }: CompiledScript, { node }: ToolRunOrder): boolean {
  return node !== undefined || declarations.externals.some(({ name }) => !withoutFiles.has(name))
}

type Places = Pick<ToolRunDeps['sandbox'], 'searchPath'>

/** The repository's configuration is not read; Go has none. */
async function rulesHere({ searchPath }: Places): Promise<(path: string) => PathRules> {
  const gofmt = await findGofmt(searchPath)
  const ofGo = { ...defaultPathRules, lint: goLintRules }
  return (path) => (isGo(path) && gofmt !== undefined ? ofGo : defaultRulesOf(path))
}

function openedWhenNeeded(
  places: Places,
  onEnd: (name: string, close: () => Promise<void>) => void,
): Pick<Linter, 'lint' | 'keepFormat'> {
  let opened: Promise<Linter> | undefined
  const linter = () => {
    if (opened === undefined) onEnd('linter', async () => (await opened)?.close())
    opened ??= openLinter(places)
    return opened
  }
  return {
    lint: async (text, rules) => (await linter()).lint(text, rules),
    keepFormat: async (before, after, rules) => (await linter()).keepFormat(before, after, rules),
  }
}

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

type How = {
  sandbox: SandboxOptions & { limits: SandboxLimits }
  onEnd(name: string, close: () => Promise<void>): void
  signal: AbortSignal
}

/** Returns what the tool script may run: the programs of the bundle that it belongs to, over a copy of the folder. */
async function folderPrograms(
  script: string,
  { folder, workspace }: { folder: FolderLayer; workspace: Workspace },
  { sandbox, onEnd, signal }: How,
): Promise<AttemptPrograms> {
  const archives = openSnapshotArchives(async () => folder.contents())
  onEnd('archive of the folder', archives.close)
  const allowed = (await bundleOfScript(script))?.yaml.file?.programs ?? []
  const attempt = { projectId: defaultProject, snapshotId: 'folder' }
  const started = { attempt, allowed, built: undefined, workspace, environment: async () => null }
  return attemptPrograms(
    started,
    {
      sandbox: openSandbox(sandbox),
      limits: sandbox.limits,
      archive: archives.open,
      environment: async () => ({}),
    },
    signal,
  )
}
