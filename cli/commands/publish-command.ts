import type { Command } from 'commander'
import { fullNameOf } from '#domain/repository-source.ts'
import type { PublicationAsked } from '../github-calls.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'

/** `remora publish RUN`: asks the service for the pull request of what is accepted. */
export function addPublishCommand(program: Command, context: CliContext): void {
  program
    .command('publish')
    .description('ask for the pull request of what is accepted; asked again, the same one is brought up to date')
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { json }: { json?: true }) => {
      const asked = await withRuns(context, ({ client }) => client.publish(runId))
      context.io.out(json ? `${JSON.stringify(asked)}\n` : visible(askedText(asked)))
    })
}

/** The publisher works on it after the answer. */
function askedText({ run_id: runId, repository, publication }: PublicationAsked): string {
  const pulls = (publication?.pulls ?? []).filter(({ state }) => state === 'open')
  const target = `${repository.branch ?? 'the branch that was worked on'} of ${fullNameOf(repository)}`
  const will =
    pulls.length === 0
      ? [`one branch with what is accepted, and one pull request for ${target}`]
      : pulls.map(({ url }) => `brought up to date: ${url}`)
  return `${runId}: asked for\n${will.map((line) => `  ${line}\n`).join('')}"remora show ${runId}" says what became of it\n`
}
