import { Option, type Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runOnce } from '../run/run-once.ts'
import { namedAgents } from './named-agents.ts'
import { refuseWithService } from './refuse-with-service.ts'
import {
  commaList,
  errorPolicyOption,
  includedKinds,
  type IncludeOptions,
  includeOptions,
  modelChoice,
  positiveInteger,
  priorityNumber,
  workersOption,
} from './option-parsers.ts'

type RunOptions = IncludeOptions & {
  agents?: string[]
  paths?: string[]
  limit?: number
  errorPolicy?: string
  priority?: number
  resume?: string
  accept: 'none'
  out?: string
  apply?: true
  events?: string
  workers: number
  model?: string
  json?: true
}

/** `remora run`: from a folder to a patch. */
export function addRunCommand(program: Command, context: CliContext): void {
  const added = program
    .command('run')
    .description('run agents over a folder, a git checkout or an archive, and write the patch they propose')
    .argument('[path]', 'what to work on', '.')
    .option('-a, --agents <names>', 'agents to run, separated by commas', commaList)
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--limit <count>', 'at most so many operations', positiveInteger)
    .addOption(
      new Option('--accept <what>', 'which changes are accepted by themselves').choices(['none']).default('none'),
    )
    .addOption(errorPolicyOption())
    .option('--priority <number>', 'of this run among others, 0 (first) to 9', priorityNumber)
    .option('--resume <run>', 'follow a run that is there, instead of submitting the folder, to its patch')
    .option('-o, --out <file>', 'where the patch goes (default: remora-<run id>.patch)')
    .option('--apply', 'apply the patch to the folder')
    .option('--events <file>', 'write every event to a file, one JSON line each')
    .addOption(workersOption('worker processes of the embedded stack'))
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelChoice)
    .option('--json', 'print events as JSON Lines, and the result as the last line')
    .action(async (path: string, options: RunOptions, command: Command) => {
      refuseWithService(command, context)
      const { json = false, apply = false, out, events, workers, model, resume, ...submission } = options
      const files = { ...(out === undefined ? {} : { out }), ...(events === undefined ? {} : { events }) }
      const order = { path, json, apply, workers, model, ...files }
      if (resume !== undefined) {
        refuseWithResume(submission, command)
        return runOnce({ ...order, source: { kind: 'resume', runId: resume }, known: [] }, context)
      }
      const { agents, known } = await namedAgents(options.agents, context.config.agentsDir, command)
      const include = includedKinds(options, context.config.request.include)
      await runOnce(
        {
          ...order,
          source: { kind: 'folder', submission: { ...context.config.request, ...submission, agents, include } },
          known,
        },
        context,
      )
    })
  for (const option of includeOptions()) added.addOption(option)
}

/** What a run does was decided when it was submitted. */
function refuseWithResume(given: Partial<RunOptions>, command: Command): void {
  const { accept: _always, ...chosen } = given
  const [name] = Object.keys(chosen)
  if (name === undefined) return
  const option = command.options.find((one) => one.attributeName() === name)
  command.error(`error: ${option?.long ?? name} cannot be used with --resume: the run was submitted with its own`)
}
