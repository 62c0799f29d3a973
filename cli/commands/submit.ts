import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runningService } from '../run/reach-service.ts'
import { packSource, submitSource } from '../run/submit-source.ts'
import { namedAgents } from './named-agents.ts'
import {
  commaList,
  errorPolicyOption,
  includedKinds,
  type IncludeOptions,
  includeOptions,
  positiveInteger,
  priorityNumber,
} from './option-parsers.ts'

type SubmitOptions = IncludeOptions & {
  agents?: string[]
  paths?: string[]
  limit?: number
  errorPolicy?: string
  priority?: number
  json?: true
}

/** `remora submit`: hands a folder to a running service and returns at once. */
export function addSubmitCommand(program: Command, context: CliContext): void {
  const added = program
    .command('submit')
    .description('send a folder, a git checkout or an archive to a running service')
    .argument('[path]', 'what to work on', '.')
    .option('-a, --agents <names>', 'agents to run, separated by commas', commaList)
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--limit <count>', 'at most so many operations', positiveInteger)
    .addOption(errorPolicyOption())
    .option('--priority <number>', 'of this run among others, 0 (first) to 9', priorityNumber)
    .option('--json', 'print one JSON document')
    .action(async (path: string, { json, ...options }: SubmitOptions, command: Command) => {
      const { agents } = await namedAgents(options.agents, context.config.agentsDir, command)
      const client = await runningService(context)
      try {
        const { request } = context.config
        const include = includedKinds(options, request.include)
        const packed = await packSource(path, { include }, context)
        const submission = { ...request, accept: 'none' as const, ...options, agents, include }
        const runId = await submitSource(client, submission, packed)
        context.io.out(json ? `${JSON.stringify({ run_id: runId, status: 'queued' })}\n` : `${runId}\n`)
      } finally {
        await client.close()
      }
    })
  for (const option of includeOptions()) added.addOption(option)
}
