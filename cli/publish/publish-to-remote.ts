import { resolve } from 'node:path'
import { withGitea } from '#code-hosts/gitea-host.ts'
import { openGitRemote } from '#code-hosts/git-remote.ts'
import {
  type CodeHost,
  type HostBranch,
  type OpenedChangeRequest,
  ownBranchFor,
  type PublishedBranch,
} from '#code-hosts/code-host.ts'
import { AppError } from '#domain/error.ts'
import type { GitTree } from '#domain/planned-commit.ts'
import { shownName } from '#domain/repo-path.ts'
import type { PatchKind } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { openScratchFolder } from '#platform/scratch-folder.ts'
import { checkPublishable, type PublishConsent } from '#stages/publish/check-publishable.ts'
import { runTrailer } from '#stages/publish/commit-message.ts'
import { gateOfMore } from '#stages/publish/without-sets.ts'
import type { PlannedCommits } from '#schemas/patch-schema.ts'
import { emptyPatchText, type LeftOutSets, readLeftOut } from '../apply/left-out-sets.ts'
import type { CliContext } from '../cli-context.ts'
import { gateText } from '../progress/proof-lines.ts'
import type { Service } from '../run/reach-service.ts'
import { isFolder, requireGit } from '../run/take-patch.ts'
import { type MessagedCommit, pushableCommits, type WithheldFile } from './pushable-commits.ts'

const statusName = 'remora'

export type RemoteOrder = {
  runId: string
  of: PatchKind
  to: string
  /** Is by default `remora/` and the base branch. */
  branch?: string | undefined
  /** Is by default the branch that the run is of, if that is known, else the default branch of the remote. */
  base?: string | undefined
  /** Is true when a pull request is opened, too: at a Gitea or Forgejo. */
  pullRequest?: boolean | undefined
  /** The caller's yes to files that the host runs, or that act on their own. */
  consent: PublishConsent
}

export type PublishedRun = {
  to: string
  branch: string
  base: HostBranch
  /** `there`: the base branch has all of it already. */
  result: PublishedBranch['result'] | 'there'
  /** Null where nothing had to be made. */
  head: string | null
  commits: { title: string; files: number }[]
  /** The files of the patch that are not pushed: a change set is pushed whole or not at all. */
  withheld: WithheldFile[]
  /** Null where none was asked for, or there was nothing to push. */
  pull: OpenedChangeRequest | null
  leftOut: LeftOutSets
}

/**
 * Makes one commit for each agent of what was accepted of a run, on top of a branch of a git repository, and pushes them there under a
 * branch of their own, as whoever calls. WORK_002 names the files that are not there as the run had them. PUBLISH_002 where somebody else
 * has worked on the branch. With a pull request, HOST_002, HOST_003 or PUBLISH_001 before anything is pushed where none could be
 * opened.
 */
export async function publishToRemote(
  { client, signal }: Service,
  order: RemoteOrder,
  { config, cwd, terminal }: CliContext,
): Promise<PublishedRun> {
  const { runId, of, to } = order
  await requireGit('--to', config.searchPath)
  const planned = await client.readCommits(runId, of)
  const leftOut = await readLeftOut(client, runId, of)
  if (planned.commits.length === 0) {
    const what =
      of === 'accepted' ? `${emptyPatchText(leftOut)}; decide with "remora review ${runId}"` : 'it changes nothing'
    throw new AppError('PUBLISH_001', `There is nothing to publish of run ${runId}: ${what}.`)
  }
  await using scratch = await openScratchFolder('remora-publish-')
  const folder = resolve(cwd, to)
  const url = (await isFolder(folder)) ? folder : to
  const { own: env } = config.settings
  const isInteractive = terminal !== undefined
  const remote = await openGitRemote({
    url,
    cwd,
    scratch: scratch.path,
    trailer: runTrailer,
    env,
    isInteractive,
    signal,
  })
  const isAsked = order.pullRequest === true
  const host = isAsked ? await withGitea(remote, { url, findLogin: remote.findLogin, signal }) : remote
  const planWithout = (ids: readonly string[]) => client.readCommits(runId, of, ids)
  const { planned: pushed, ...published } = await publishCommits(host, { ...order, planned, planWithout })
  const judged = { ...leftOut, gate: gateOf(leftOut, published) }
  const pull = await propose(host, published, { runId, planned: pushed, leftOut: judged })
  return { ...published, pull, to: withoutLogin(to), leftOut: judged }
}

type PushedRun = Omit<PublishedRun, 'to' | 'leftOut' | 'pull'>

/** The gate judged all of the patch, which proves nothing of a part of it. */
function gateOf({ gate }: LeftOutSets, { withheld }: PushedRun): LeftOutSets['gate'] {
  return gate === undefined || withheld.length === 0 ? gate : { ...gate, verdict: 'unproved', reason: gateOfMore }
}

type Proposed = { runId: string; planned: PlannedCommits; leftOut: LeftOutSets }

/** Asks for the pull request of what was pushed, and says at its last commit what the gate has found. */
async function propose(
  host: CodeHost,
  { branch, base, head }: PushedRun,
  { runId, planned: { pull_request: text }, leftOut: { gate } }: Proposed,
): Promise<OpenedChangeRequest | null> {
  if (host.openChangeRequest === null || head === null || !text) return null
  const { title, body, is_draft: isDraft } = text
  const opened = await host.openChangeRequest({ branch, baseBranch: base.name, title, body, isDraft })
  if (gate === undefined) return opened
  await host.reportStatus?.({
    commit: head,
    name: statusName,
    key: runId,
    state: gate.verdict === 'passed' ? 'success' : 'neutral',
    title: gateText(gate),
    summary: '',
    url: null,
    startedAt: Date.now(),
    buttons: [],
    annotations: [],
  })
  return opened
}

type Planning = RemoteOrder & { planned: PlannedCommits; planWithout(ids: readonly string[]): Promise<PlannedCommits> }

async function publishCommits(
  host: CodeHost,
  { to, branch: named, base: namedBase, consent, planned: first, planWithout }: Planning,
): Promise<PushedRun & { planned: PlannedCommits }> {
  const base = await findBase(host, namedBase ?? first.branch, to)
  const branch = named ?? ownBranchFor(base.name, null)
  if (branch === base.name) {
    throw new AppError('CONFIG_003', `${branch} is the branch that the changes are for: name another one`, {
      phase: 'usage',
    })
  }
  const tree = await host.readTree(base.commit)
  const { planned, commits, withheld } = await pushableCommits(first, { tree, consent, host, planWithout })
  const shown = commits.map(({ message, files }) => ({ title: message.split('\n')[0] ?? '', files: files.length }))
  const made = { branch, base, planned, commits: shown, withheld }
  if (commits.length === 0 && withheld.length > 0)
    throw new AppError('PUBLISH_001', `nothing is left to push: ${withheld.map(withheldText).join('; ')}`)
  if (commits.length === 0) return { ...made, result: 'there', head: null }
  requireSameBase(commits, tree, base)
  await checkPublishable(commits, { tree, readBase: ({ baseHash }) => host.readBlob(baseHash), ...consent })
  const { head, result } = await host.publishBranch({
    branch,
    base: base.commit,
    baseBranch: base.name,
    commits,
  })
  return { ...made, result, head }
}

export function withheldText({ path, reason }: WithheldFile): string {
  return `${shownName(path)} ${reason}`
}

async function findBase(host: CodeHost, name: string | null, to: string): Promise<HostBranch> {
  const base = await host.findBranch(name)
  if (base !== undefined) return base
  const what = name === null ? 'no default branch' : `no branch ${JSON.stringify(name)}`
  throw new AppError(
    'HOST_004',
    `${withoutLogin(to)} has ${what}: name the branch that the changes are for with --base`,
  )
}

const namedFiles = 20

function requireSameBase(commits: readonly MessagedCommit[], tree: GitTree, { name, commit }: HostBranch): void {
  const files = commits.flatMap((planned) => planned.files)
  const moved = new Set(files.flatMap(({ path, baseHash }) => ((tree.get(path)?.sha ?? null) === baseHash ? [] : path)))
  if (moved.size === 0) return
  const which = `${plural(moved.size, 'file')} on ${name} (${commit.slice(0, 10)}) not as the run had ${moved.size === 1 ? 'it' : 'them'}`
  const shown = [...moved].slice(0, namedFiles)
  const more = moved.size > shown.length ? [`and ${moved.size - shown.length} more`] : []
  const text = [`nothing was pushed: ${which}:`, ...shown, ...more].join('\n')
  throw new AppError('WORK_002', text)
}
