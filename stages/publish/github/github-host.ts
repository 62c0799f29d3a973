import type {
  BranchOrder,
  CodeHost,
  HostBranch,
  StatusReport,
  CommitState,
  ReportedStatus,
  StatusAnnotation,
} from '#code-hosts/code-host.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'
import { AppError } from '#domain/error.ts'
import type { GitTree } from '#domain/planned-commit.ts'
import { type CommitId, fullNameOf, type HostedRepository } from '#domain/repository-source.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { publishBranch, requireOwnCommits } from './publish-branch.ts'
import { openPullRequests } from './pull-requests.ts'
import { openReads } from './repository-reads.ts'

export type OwnApp = { appId: number; botLogin: string }

export type GitHubHost = ReturnType<typeof openGitHubHost>

/** There is neither a checkout nor git here. */
export function openGitHubHost(client: GitHubClient, repository: HostedRepository, { appId, botLogin }: OwnApp) {
  const reads = openReads(client, repository)
  const deps = { client, repository, reads, botLogin }
  const trees = new Map<CommitId, Promise<GitTree>>()
  const readTree = (commit: CommitId) => getOrMake(trees, commit, () => listTree(commit, { client, repository }))
  const host = {
    async findBranch(named: string | null): Promise<HostBranch | undefined> {
      const name = named ?? (await reads.defaultBranch())
      const commit = await reads.branchHead(name)
      return commit === undefined ? undefined : { name, commit }
    },
    readTree,
    webUrl: () => reads.webUrl(),
    async readBlob(sha: string): Promise<Uint8Array> {
      const of = { owner: repository.owner, repo: repository.name, file_sha: sha }
      const answer = client.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', of)
      return Buffer.from((await orHostError(answer, 'HOST_004')).data.content, 'base64')
    },
    /** GitHub's own comparison names 300 files at most. */
    compare: async (before: CommitId, after: CommitId) => differingPaths(await readTree(before), await readTree(after)),
    publishBranch: (order: BranchOrder) => publishBranch(order, deps),
    reportStatus: (report: StatusReport) => reportStatus(report, { client, repository, appId }),
    ...openPullRequests(client, repository),
    /** PUBLISH_002 where somebody else has worked on the branch. A branch that is gone is nobody's work. */
    async requireOwn(branch: Pick<BranchOrder, 'branch' | 'baseBranch' | 'written'>): Promise<void> {
      const head = await reads.branchHead(branch.branch)
      if (head !== undefined) await requireOwnCommits({ ...branch, head }, deps)
    },
  }
  return host satisfies CodeHost
}

/** It has submodules and links. PUBLISH_001 for a tree that GitHub does not list whole. */
async function listTree(
  commit: CommitId,
  { client, repository }: { client: GitHubClient; repository: HostedRepository },
): Promise<GitTree> {
  const of = { owner: repository.owner, repo: repository.name, tree_sha: commit, recursive: '1' }
  const answer = client.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', of)
  const { data } = await orHostError(answer, 'HOST_004')
  if (data.truncated) {
    const name = fullNameOf(repository)
    throw new AppError('PUBLISH_001', `GitHub does not list all files of ${name}: it has too many`)
  }
  const files = data.tree.filter(({ type }) => type !== 'tree')
  return new Map(files.map(({ path, mode, sha }) => [path, { mode, sha }]))
}

function differingPaths(before: GitTree, after: GitTree): string[] {
  const isSame = (path: string) => {
    const [entryBefore, entryAfter] = [before.get(path), after.get(path)]
    return entryBefore?.sha === entryAfter?.sha && entryBefore?.mode === entryAfter?.mode
  }
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter((path) => !isSame(path))
  return paths.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
}

type CheckHost = { client: GitHubClient; repository: HostedRepository; appId: number }
type Check = { id: number; annotations: number }

/** GitHub takes no more in one request. */
const mostAnnotations = 50
const mostSummaryBytes = 65_535

/** Several may be there, after a request that was given up: before the last word the newest gets it, and the others point there. */
async function reportStatus(report: StatusReport, deps: CheckHost): Promise<ReportedStatus> {
  const { id, state } = report
  const isKnown = id !== undefined && (state === 'queued' || state === 'running')
  const [newest, ...others] = isKnown ? [id] : await findChecks(report, deps)
  for (const otherId of others) await leaveCheck(otherId, deps)
  const check = newest === undefined ? await createCheck(report, deps) : await updateCheck(newest, report, deps)
  await annotate(check, report, deps)
  return { id: check.id }
}

/** The newest comes first. A try whose answer was lost may have made one. */
async function findChecks({ commit, name, key, id: known }: StatusReport, deps: CheckHost): Promise<number[]> {
  const { client, repository, appId } = deps
  const of = { ...ownerOf(repository), ref: commit, check_name: name, app_id: appId }
  const query = { ...of, filter: 'all', per_page: 100 } as const
  const { data } = await orHostError(client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', query))
  const checks = data.check_runs.filter((check) => check.external_id === key && check.conclusion !== leftConclusion)
  const ids = new Set(checks.map(({ id }) => Number(id)))
  if (known !== undefined) ids.add(known)
  return [...ids].toSorted((left, right) => right - left)
}

async function createCheck(report: StatusReport, { client, repository }: CheckHost): Promise<Check> {
  const { name, commit, key, url } = report
  const about = { name, head_sha: commit, external_id: key, ...(url === null ? {} : { details_url: url }) }
  const query = { ...ownerOf(repository), ...about, ...bodyOf(report) }
  const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/check-runs', query))
  return { id: Number(data.id), annotations: data.output.annotations_count }
}

async function updateCheck(id: number, report: StatusReport, { client, repository }: CheckHost): Promise<Check> {
  const query = { ...ownerOf(repository), check_run_id: id, ...bodyOf(report) }
  const { data } = await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
  return { id, annotations: data.output.annotations_count }
}

/** No other check run of ours ends so. */
const leftConclusion = 'skipped'

async function leaveCheck(id: number, { client, repository }: CheckHost): Promise<void> {
  const summary = 'GitHub was asked twice for this check run, since it did not answer. The other one has the results.'
  const output = { title: 'See the other check run', summary }
  const left = { status: 'completed', conclusion: leftConclusion } as const
  const query = { ...ownerOf(repository), check_run_id: id, ...left, output, actions: [] }
  await orHostError(client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
}

/** GitHub adds annotations to those that are there: the others are sent, 50 at a time. */
async function annotate({ id, annotations: sent }: Check, report: StatusReport, deps: CheckHost): Promise<void> {
  const { title, annotations } = report
  for (let at = sent; at < annotations.length; at += mostAnnotations) {
    const part = annotations.slice(at, at + mostAnnotations).map(wireOf)
    const output = { title, summary: clipped(report.summary), annotations: part }
    const query = { ...ownerOf(deps.repository), check_run_id: id, output }
    await orHostError(deps.client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', query))
  }
}

function ownerOf({ owner, name: repo }: HostedRepository) {
  return { owner, repo }
}

function bodyOf({ state, title, summary, buttons, startedAt }: StatusReport) {
  const output = { title, summary: clipped(summary) }
  const started_at = new Date(startedAt).toISOString()
  return { ...stateOf(state), started_at, output, actions: buttons.map((button) => ({ ...button })) }
}

function stateOf(state: CommitState) {
  if (state === 'queued') return { status: 'queued' as const }
  if (state === 'running') return { status: 'in_progress' as const }
  return { status: 'completed' as const, conclusion: state }
}

function clipped(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mostSummaryBytes) return text
  return `${new TextDecoder().decode(bytes.subarray(0, mostSummaryBytes - 100)).replace(/\uFFFD+$/, '')}\n\n… (cut)`
}

function wireOf({ path, startLine, endLine, level, title, message }: StatusAnnotation) {
  return { path, start_line: startLine, end_line: endLine, annotation_level: level, title, message }
}
