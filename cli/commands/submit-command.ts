import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runningService } from '../run/reach-service.ts'
import type { ApiClient } from '../api-client.ts'
import { type Source, withRepository } from '../discover/repository-around.ts'
import { prepareSource, submitRepository, submitSource } from '../run/submit-source.ts'
import { namedAgents } from '../run/known-agents.ts'
import {
  addIncludeOptions,
  addSubmissionOptions,
  refusePlanless,
  submissionOf,
  type SubmissionOptions,
} from './shared-options.ts'

type Named = Partial<Record<'repository' | 'ref', string | undefined>>
type SubmitOptions = SubmissionOptions & Named & { json?: true }

export function addSubmitCommand(submit: Command, context: CliContext): void {
  submit.argument('[path]', 'what to work on', '.')
  addSubmissionOptions(submit)
    .option('--repository <name>', 'a repository of GitHub, as owner/name or its address, instead of a path')
    .option('--ref <name>', 'its branch, tag or commit (default: its default branch)')
    .option('--json', 'print one JSON document')
    .action(async (path: string, { json, repository, ref, ...options }: SubmitOptions, called: Command) => {
      refuseMixed(called, { repository, ref })
      refusePlanless(called, options)
      const { agents } = await namedAgents(options, context.config, called)
      const wanted = submissionOf(options, { agents, settings: context.config.request })
      const { client } = await runningService(context)
      const runId =
        repository === undefined
          ? await submitPath(client, { path, submission: wanted }, context)
          : await submitRepository(client, wanted, { url: repository, ref })
      if (!json) context.io.err(`follow it: remora watch ${runId}; look at its changes: remora review ${runId}\n`)
      context.io.out(json ? `${JSON.stringify({ run_id: runId, status: 'queued' })}\n` : `${runId}\n`)
    })
  addIncludeOptions(submit)
}

async function submitPath(client: ApiClient, given: Source, context: CliContext): Promise<string> {
  const { path, submission } = await withRepository(given, context)
  return submitSource(client, submission, await prepareSource(path, submission, context))
}

/** A repository is not on this machine: what is about a folder cannot be meant. */
function refuseMixed(command: Command, { repository, ref }: Named): void {
  const fail = (message: string) => command.error(`error: ${message}`, { exitCode: 2 })
  if (repository === undefined) return ref === undefined ? undefined : fail('--ref is for --repository')
  if (command.args.length > 0) fail('a path and --repository exclude each other')
  for (const option of ['since', 'folderOnly'])
    if (command.getOptionValueSource(option) === 'cli')
      fail(`--${option === 'since' ? 'since' : 'folder-only'} is for a folder, not for --repository`)
}
