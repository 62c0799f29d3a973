import { type Command, Option } from 'commander'
import { AppError } from '#domain/error.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { fullNameOf } from '#domain/repository-source.ts'
import { PatchKind } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import type { PublicationAsked } from '#schemas/github-schema.ts'
import { describePatch, leftOutDocument } from '../apply/left-out-sets.ts'
import type { CliContext } from '../cli-context.ts'
import { type PublishedRun, publishToRemote, withheldText } from '../publish/publish-to-remote.ts'
import { type Service, withComposedRuns, withRuns } from '../run/reach-service.ts'
import { visible } from '../terminal-text.ts'

type PublishOptions = {
  to?: string
  branch?: string
  base?: string
  of: PatchKind
  pullRequest?: true
  allowPath?: string[]
  allowWorkflows?: true
  json?: true
}

/** `remora publish RUN`: asks the service for the pull request; with `--to`, commits on a branch of any git repository. */
export function addPublishCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--to <path-or-url>', 'the git repository: a folder, or an address that git knows')
    .option('--branch <name>', 'with --to: the branch that gets the commits (default: remora/ and the base branch)')
    .option(
      '--base <branch>',
      'with --to: the branch that the changes are for (default: the one of the run, or of the repository)',
    )
    .addOption(
      new Option(
        '--of <changes>',
        'with --to: which changes: those that were accepted, or all that nobody has rejected',
      )
        .choices(PatchKind.options)
        .default('accepted'),
    )
    .option(
      '--pull-request',
      'with --to: open a pull request, too, or bring it up to date; at a Gitea or Forgejo, as git knows you there',
    )
    .option(
      '--allow-path <glob...>',
      'with --to: files that are pushed although they act before they are merged, such as AGENTS.md or CODEOWNERS',
    )
    .option('--allow-workflows', 'with --to: push changes of workflows and pipelines, too')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: PublishOptions) => {
      if (options.to === undefined) await askForPull(runId, options, context)
      else await pushTo(runId, { ...options, to: options.to }, context)
    })
}

async function askForPull(runId: string, { json }: PublishOptions, context: CliContext): Promise<void> {
  const answer = await withRuns(context, ({ client }) => client.publish(runId))
  context.io.out(json ? `${JSON.stringify(answer)}\n` : visible(askedText(answer)))
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

async function pushTo(runId: string, options: PublishOptions & { to: string }, context: CliContext): Promise<void> {
  const consent = { allowWorkflows: options.allowWorkflows === true, allowPaths: options.allowPath ?? [] }
  const fault = faultOfGlobs(consent.allowPaths)
  if (fault !== undefined) throw new AppError('CONFIG_003', `--allow-path: ${fault}`, { phase: 'usage' })
  const publish = (service: Service) => publishToRemote(service, { ...options, consent, runId }, context)
  const published = await withComposedRuns(context, publish)
  if (options.json) context.io.out(`${JSON.stringify(publishedDocument(runId, options.of, published))}\n`)
  else printPublished(published, context)
  // What is proposed may collide; what was accepted somebody has asked for.
  const isLess = published.leftOut.count + published.withheld.length > 0
  if (options.of === 'accepted' && isLess) context.io.exit(3)
}

function publishedDocument(runId: string, of: PatchKind, { leftOut, pull, withheld, ...published }: PublishedRun) {
  const files = withheld.map(({ path, errorCode, reason, changeSetIds }) => {
    return { path, error_code: errorCode, reason, change_set_ids: changeSetIds }
  })
  const opened = pull && {
    pull_request: { number: pull.number, url: pull.url, result: pull.result, draft: pull.isDraft },
  }
  return { run_id: runId, of, ...published, withheld: files, ...opened, ...leftOutDocument(leftOut) }
}

function printPublished({ leftOut, ...published }: PublishedRun, { io }: CliContext): void {
  const { to, branch, base, result, head, commits, pull, withheld } = published
  io.err(describePatch(leftOut))
  for (const file of withheld) io.err(visible(`not pushed (${file.errorCode}): ${withheldText(file)}\n`))
  if (result === 'there') return io.out(`${visible(base.name)} has all of it already: nothing to push\n`)
  for (const { title } of commits) io.out(`${visible(title)}\n`)
  const made = plural(commits.length, 'commit')
  const end = `${visible(branch)} of ${visible(to)}, on top of ${visible(base.name)}: ${head}`
  io.out(result === 'unchanged' ? `nothing to push: ${made} on ${end}\n` : `${made} pushed to ${end}\n`)
  if (pull === null) return
  const what = `${pull.isDraft ? 'draft ' : ''}pull request ${pull.number}`
  io.out(`${what} ${pull.result === 'opened' ? 'opened' : 'brought up to date'}: ${visible(pull.url)}\n`)
}
