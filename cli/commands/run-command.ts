import { Option, type Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runOnce } from '../run/run-once.ts'
import { namedAgents } from '../run/known-agents.ts'
import {
  addIncludeOptions,
  addSubmissionOptions,
  commaList,
  errorPolicyOption,
  eventsFileOption,
  modelChoice,
  refusePlanless,
  refuseWithService,
  submissionOf,
  type SubmissionOptions,
  workersOption,
} from './shared-options.ts'
import type { ErrorPolicyName } from '#domain/run.ts'

type RunOptions = SubmissionOptions & FollowOptions & { dryRun?: true; resume?: string; apply?: true }

type FollowOptions = { out?: string; eventsTo?: string; workers?: number; model?: string; open?: true; json?: true }

function addFollowOptions(command: Command): Command {
  return command
    .option('-o, --out <file>', 'where the patch goes (default: remora-<run id>.patch)')
    .option(...eventsFileOption)
    .option('--open', 'show the run in a browser')
    .addOption(workersOption('worker processes of the embedded stack, even for a few files'))
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelChoice)
    .option('--json', 'print events as JSON Lines, and the result as the last line')
}

export function addRunCommand(run: Command, context: CliContext): void {
  const planOnly = 'only say what would be done, with estimated tokens, and what is skipped and why'
  run.argument('[path]', 'what to work on', '.')
  addSubmissionOptions(run)
    .addOption(new Option('--dry-run', planOnly).conflicts(['apply', 'out', 'resume']))
    .option('--resume <run>', 'continue an earlier run until it has its patch, instead of submitting the folder')
    .option('--apply', 'apply the patch to the folder')
  addFollowOptions(run).action(async (path: string, options: RunOptions, called: Command) => {
    refuseWithService(called, context)
    const { json = false, apply = false, open = false, out, eventsTo, workers, model, resume, ...ofNewRun } = options
    const order = { path, json, apply, opens: open, workers, model, out, eventsTo }
    if (resume !== undefined) {
      refuseWithResume(ofNewRun, called)
      return runOnce({ ...order, source: { kind: 'resume', runId: resume }, known: [] }, context)
    }
    refusePlanless(called, options)
    const { agents, known } = await namedAgents(options, context.config, called)
    const submission = submissionOf(options, { agents, settings: context.config.request })
    const source = {
      kind: 'folder',
      submission: { ...submission, dryRun: options.dryRun ?? submission.dryRun },
    } as const
    await runOnce({ ...order, source, known, setsUp: options.setup !== undefined }, context)
  })
  addIncludeOptions(run)
}

/** The options of a run were fixed when it was submitted. */
function refuseWithResume(given: Partial<RunOptions>, command: Command): void {
  const [name] = Object.keys(given)
  if (name === undefined) return
  const option = command.options.find((candidate) => candidate.attributeName() === name)
  command.error(`error: ${option?.long ?? name} cannot be used with --resume: the run was submitted with its own`)
}

type RetryOptions = FollowOptions & { code?: string[]; rejected?: true; errorPolicy?: ErrorPolicyName }

/** `remora retry RUN [OPERATION…]`: reopens a run for operations that failed, all or some, and follows it to the whole patch. */
export function addRetryCommand(retry: Command, context: CliContext): void {
  retry
    .argument('<run>', 'run id')
    .argument('[operations...]', 'operation ids')
    .option(
      '--code <codes>',
      'only what failed or was blocked with one of these error codes, separated by commas',
      commaList,
    )
    .option('--rejected', 'only what was rejected with a reason, which the agents are told')
    .addOption(errorPolicyOption())
  addFollowOptions(retry).action(async (runId: string, operations: string[], given: RetryOptions, command: Command) => {
    refuseWithService(command, context)
    const { json = false, open = false, errorPolicy, code: codes, rejected, workers, ...options } = given
    if ([codes, rejected, operations[0]].filter((way) => way !== undefined).length > 1) {
      command.error('error: name operations or give --code or --rejected, only one of them', { exitCode: 2 })
    }
    const named = operations.length === 0 ? undefined : operations
    const choice = { operations: named, codes, rejected, error_policy: errorPolicy }
    const source = { kind: 'retry', runId, choice } as const
    await runOnce({ path: '.', apply: false, known: [], json, opens: open, workers, ...options, source }, context)
  })
}
