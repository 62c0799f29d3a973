import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runningService } from '../run/reach-service.ts'
import { withRepository } from '../discover/repository-around.ts'
import { prepareSource, submitSource } from '../run/submit-source.ts'
import { namedAgents } from '../run/known-agents.ts'
import { addIncludeOptions, addSubmissionOptions, submissionOf, type SubmissionOptions } from './shared-options.ts'

type SubmitOptions = SubmissionOptions & { json?: true }

/** `remora submit`: hands a folder to a running service and returns at once. */
export function addSubmitCommand(program: Command, context: CliContext): void {
  const submit = program
    .command('submit')
    .description('send a folder, a git checkout or an archive to a running service')
    .argument('[path]', 'what to work on', '.')
  addSubmissionOptions(submit)
    .option('--json', 'print one JSON document')
    .action(async (path: string, { json, ...options }: SubmitOptions, called: Command) => {
      const { agents } = await namedAgents(options.agents, context.config, called)
      const wanted = submissionOf(options, { agents, settings: context.config.request })
      const client = await runningService(context)
      try {
        const source = await withRepository({ path, submission: wanted }, context)
        const prepared = await prepareSource(source.path, source.submission, context)
        const runId = await submitSource(client, source.submission, prepared)
        if (!json) context.io.err(`follow it: remora watch ${runId}; look at its changes: remora review ${runId}\n`)
        context.io.out(json ? `${JSON.stringify({ run_id: runId, status: 'queued' })}\n` : `${runId}\n`)
      } finally {
        await client.close()
      }
    })
  addIncludeOptions(submit)
}
