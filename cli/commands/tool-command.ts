import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { hasCode } from '#domain/error.ts'
import { ScriptProfile } from '#domain/agent-bundle.ts'
import {
  type ArtifactOrder,
  requireArtifactFolder,
  writeArtifacts,
  writeScriptArtifacts,
} from '../write-script-artifacts.ts'
import type { CliContext } from '../cli-context.ts'
import { describeFailure } from '../describe-failure.ts'
import { untilAborted } from '#platform/clock.ts'
import { ruff } from '#platform/known-programs.ts'
import { locateProgram, withProgram } from '#platform/obtain-program.ts'
import { programCache } from '#platform/program-cache.ts'
import { openLineFile } from '../run/output-file.ts'
import { answerQuestions } from '../tool/answer-questions.ts'
import { applyChanges } from '../tool/workspace-changes.ts'
import { describeToolRun, runLog, scriptEventView, toolRunView, valueText } from '../tool/describe-tool-run.ts'
import { readGiven } from '../tool/tool-inputs.ts'
import type { ToolRun, ToolRunDeps, ToolRunOrder } from '../tool/run-tool.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { visible } from '../terminal-text.ts'

type RunOptions = {
  input?: ReadonlyMap<string, string>
  inputs?: string
  workspace: string
  node?: string
  limits: ToolRunOrder['limits']
  profile?: ScriptProfile
  apply?: true
  answer?: string[]
  artifacts?: string
  eventsTo?: string
  json?: true
}

type ToolContext = Pick<CliContext, 'io' | 'signal' | 'config' | 'cwd'>

/** Prints only the script's value to stdout. Exit code 1 when the script fails, 2 when its inputs do not fit. */
export function addToolCommand(tool: Command, context: ToolContext): void {
  const limits = new Option('--limits <preset>', 'what the script may use').choices(['strict', 'default', 'permissive'])
  const profile = new Option('--profile <profile>', 'what the script may use (default: what its bundle says)')
  tool
    .command('run')
    .description('run one tool script over a folder, which is only read')
    .argument('<file>', 'the .pym file')
    .option(
      '-i, --input <key=json>',
      'an input; text that is not JSON is a string if the input is declared str (repeat it for more)',
      inputOption,
    )
    .option('--inputs <file>', 'all inputs as one JSON object; - reads them from standard input; -i overrides it')
    .option('--workspace <folder>', 'the folder the script sees; what it changes is shown as a diff', '.')
    .option(
      '--node <path[:name]>',
      'the node the script works on: a path in the workspace, and the qualified name of a node in it',
    )
    .addOption(limits.default('default'))
    .addOption(profile.choices(ScriptProfile.options))
    .option('--answer <text>', 'the answer to ask_user (repeat it for more); without it, you are asked', inOrder)
    .option('--apply', 'write what the script changed to the workspace, unless that has changed meanwhile')
    .option('--artifacts <folder>', "write run.log and the compiler's output for the script to this folder")
    .option('--events-to <file>', 'write the events of the run, with times and counts, to a file, one JSON line each')
    .option('--json', 'print one JSON document')
    .action((file: string, options: RunOptions) => refusingInputs(options, context, () => run(file, options, context)))
}

/** Scripts read what is in the folder; the changes that `--apply` writes keep their bytes. */
const redactor = openRedactor()

async function run(file: string, options: RunOptions, context: ToolContext): Promise<void> {
  const { artifacts, json } = options
  const { io, cwd } = context
  if (artifacts !== undefined) await requireArtifactFolder(artifacts)
  const ran = await runGiven(file, options, context)
  if (artifacts !== undefined) await keepArtifacts(ran, { dir: artifacts, cwd })
  const hasReturned = ran.ending.kind === 'returned'
  const applied = options.apply === true && hasReturned && ran.changes.length > 0
  if (applied) await applyChanges(ran.top, ran.changes)
  if (json) io.out(`${JSON.stringify(redactor.record(toolRunView(ran, applied)))}\n`)
  else {
    io.err(redactor.text(describeToolRun(ran, applied)))
    if (ran.ending.kind === 'returned') io.out(valueText(redactor.value(ran.ending.value)))
  }
  if (!hasReturned) io.exit(1)
}

/** Returns the search path with the Ruff that an earlier run has got, if there is one. */
async function withOwnRuff({ searchPath, settings }: CliContext['config'], signal: AbortSignal): Promise<string> {
  const places = { searchPath, programDir: programCache(settings.own), env: settings.own, signal }
  const { path } = await locateProgram(ruff, places)
  return path === undefined ? searchPath : withProgram(searchPath, path)
}

async function runGiven(file: string, options: RunOptions, context: ToolContext): Promise<ToolRun> {
  const { input, inputs, workspace, node, limits, answer = [] } = options
  const { io, signal, config, cwd } = context
  const reading = readGiven(inputs, () => text(process.stdin))
  const given = { texts: input ?? new Map<string, string>(), values: await untilAborted(reading, signal) }
  const events = options.eventsTo === undefined ? undefined : await openLineFile(resolve(cwd, options.eventsTo))
  const deps: ToolRunDeps = {
    packs: config.queries,
    sandbox: { ...config.sandbox, searchPath: await withOwnRuff(config, signal) },
    onLog: (message: string) => io.err(visible(`log: ${redactor.text(message)}\n`)),
    onEvent: events && ((event) => events.add(JSON.stringify(scriptEventView(event)))),
    answer: answerQuestions(answer),
  }
  try {
    const { runTool } = await import('../tool/run-tool.ts')
    return await runTool({ file, given, workspace, node, limits, profile: options.profile }, deps, signal)
  } finally {
    await events?.close()
  }
}

async function keepArtifacts(ran: ToolRun, order: ArtifactOrder): Promise<void> {
  const folders = await writeScriptArtifacts([ran.checked], order)
  for (const folder of folders) await writeArtifacts(folder, new Map([['run.log', redactor.text(runLog(ran))]]))
}

/** Inputs that do not fit are wrong usage, but the command line cannot be judged before the script is read. */
async function refusingInputs({ json }: RunOptions, { io }: ToolContext, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!hasCode(error, 'TOOL_002')) throw error
    const { text: failure, document } = describeFailure(error)
    if (json) io.out(`${JSON.stringify(document)}\n`)
    io.err(failure)
    io.exit(2)
  }
}

function inOrder(given: string, before: readonly string[] = []): readonly string[] {
  return [...before, given]
}

function inputOption(given: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = given.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be name=JSON, such as path=\'"src/a.py"\' or count=3.')
  const name = given.slice(0, at)
  if (before.has(name)) throw new InvalidArgumentError(`The input ${name} is given twice.`)
  return new Map([...before, [name, given.slice(at + 1)]])
}
