import type { BranchOrder, NewCommit, PublishedBranch } from '#code-hosts/code-host.ts'
import { type GitHubClient, hostError, orHostError } from '#code-hosts/github-client.ts'
import { AppError, hasCode } from '#domain/error.ts'
import type { PlannedFile } from '#domain/planned-commit.ts'
import { type CommitId, type HostedRepository, noCommit } from '#domain/repository-source.ts'
import type { RepositoryReads } from './repository-reads.ts'

type WriteDeps = {
  client: GitHubClient
  repository: HostedRepository
  reads: Pick<RepositoryReads, 'branchHead' | 'mergeBase' | 'nodeId' | 'treeOf'>
  botLogin: string
}

const tries = 4
/** A tree with texts is one request; more in one would be refused as too long. */
const mostTreeBytes = 4 * 1024 ** 2
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Blobs, trees and commits that no branch has are harmless, so every step may be done again. */
export async function publishBranch(order: BranchOrder, deps: WriteDeps): Promise<PublishedBranch> {
  const { branch } = order
  let made: Made | undefined
  for (let tried = 0; tried < tries; tried++) {
    const head = await deps.reads.branchHead(branch)
    if (head !== undefined) await requireOwnCommits({ ...order, head }, deps)
    made ??= await makeCommits(order, deps)
    if (head !== undefined && (await isSameWork(head, made, order, deps))) return { head, result: 'unchanged' }
    const isMoved = await moveBranch(branch, { from: head, to: made.commit }, deps)
    if (isMoved) return { head: made.commit, result: head === undefined ? 'created' : 'updated' }
  }
  throw new AppError('HOST_001', `the branch ${branch} is moved by others again and again: it is looked at later`)
}

type OwnBranch = Pick<BranchOrder, 'branch' | 'baseBranch' | 'written'> & { head: CommitId }

/** PUBLISH_002 unless all commits that the base branch has not are the app's own, or the caller has written the head. */
export async function requireOwnCommits(
  { branch, baseBranch, head, written = [] }: OwnBranch,
  deps: WriteDeps,
): Promise<void> {
  if (written.includes(head)) return
  const base = await deps.reads.branchHead(baseBranch)
  if (base === undefined) throw new AppError('HOST_004', `there is no branch ${baseBranch} any more`)
  const foreign = (await commitsSince(base, head, deps)).find(({ isOurs }) => !isOurs)
  if (foreign === undefined) return
  const what = `the branch ${branch} has the commit ${foreign.sha.slice(0, 12)} of ${foreign.author}`
  throw new AppError('PUBLISH_002', `${what}: it is left as it is. Merge or delete the branch to have a new one`)
}

/** GitHub signs what an app commits, and nobody else can commit as it. */
type HostCommit = { sha: CommitId; author: string; isOurs: boolean }

/** The oldest comes first. */
async function commitsSince(
  base: CommitId,
  head: CommitId,
  { client, repository: { owner, name: repo }, botLogin }: WriteDeps,
): Promise<HostCommit[]> {
  const basehead = `${base}...${head}`
  const commits = []
  for (let page = 1, total = 1; commits.length < total; page++) {
    const at = { owner, repo, basehead, per_page: 100, page }
    const { data } = await orHostError(client.request('GET /repos/{owner}/{repo}/compare/{basehead}', at), 'HOST_004')
    if (data.commits.length === 0) break
    commits.push(...data.commits)
    total = data.total_commits
  }
  return commits.map(({ sha, commit, author, committer }) => ({
    sha,
    author: author?.login ?? commit.author?.name ?? 'somebody',
    isOurs: isMadeBy(botLogin, { author, committer }) && commit.verification?.verified === true,
  }))
}

type Account = { login?: string | undefined } | null

/** Whoever amends or rebases a commit becomes its committer, and may sign it; what an app commits GitHub commits for it. */
function isMadeBy(botLogin: string, { author, committer }: { author: Account; committer: Account }): boolean {
  return author?.login === botLogin && [botLogin, 'web-flow'].includes(committer?.login ?? '')
}

type Made = { commit: CommitId; tree: string }

/** GitHub signs for the app when there is no author. */
async function makeCommits({ base, commits }: Pick<BranchOrder, 'base' | 'commits'>, deps: WriteDeps): Promise<Made> {
  const { client, reads } = deps
  const of = { owner: deps.repository.owner, repo: deps.repository.name }
  let [parent, baseTree] = [base, await reads.treeOf(base)]
  for (const { message, files } of commits) {
    const tree = await treeEntries(files, deps)
    const made = client.request('POST /repos/{owner}/{repo}/git/trees', { ...of, base_tree: baseTree, tree })
    baseTree = (await orHostError(made)).data.sha
    const commit = { message, tree: baseTree, parents: [parent] }
    const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/git/commits', { ...of, ...commit }))
    parent = data.sha
  }
  return { commit: parent, tree: baseTree }
}

async function treeEntries(files: NewCommit['files'], deps: WriteDeps) {
  let bytes = 0
  const entries = []
  for (const { path, executable, content } of files) {
    const entry = { path, mode: executable ? ('100755' as const) : ('100644' as const), type: 'blob' as const }
    bytes += content?.length ?? 0
    const text = content === null || bytes > mostTreeBytes ? undefined : textOf(content)
    if (content === null) entries.push({ ...entry, sha: null })
    else
      entries.push(text === undefined ? { ...entry, sha: await putBlob(content, deps) } : { ...entry, content: text })
  }
  return entries
}

/** It is undefined for what is no UTF-8 text, or would be changed by being sent as JSON. */
function textOf(content: NonNullable<PlannedFile['content']>): string | undefined {
  try {
    return utf8.decode(content)
  } catch {
    return undefined
  }
}

async function putBlob(
  content: Uint8Array,
  { client, repository: { owner, name: repo } }: Pick<WriteDeps, 'client' | 'repository'>,
): Promise<string> {
  const body = { content: Buffer.from(content).toString('base64'), encoding: 'base64' }
  const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/git/blobs', { owner, repo, ...body }))
  return data.sha
}

/** Commits made again have other times, and so other names. */
async function isSameWork(
  head: CommitId,
  made: Made,
  { base, commits }: Pick<BranchOrder, 'base' | 'commits'>,
  deps: WriteDeps,
): Promise<boolean> {
  if ((await deps.reads.treeOf(head)) !== made.tree) return false
  const there = await commitsSince(base, head, deps)
  return there.length === commits.length && (await deps.reads.mergeBase(base, head)) === base
}

type Move = { from: CommitId | undefined; to: CommitId }

const updateRefs = 'mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }'

/** False when the branch was moved meanwhile: only GitHub's GraphQL API compares and moves in one step. */
async function moveBranch(
  branch: string,
  { from = noCommit, to }: Move,
  { client, reads }: Pick<WriteDeps, 'client' | 'reads'>,
): Promise<boolean> {
  const update = { name: `refs/heads/${branch}`, beforeOid: from, afterOid: to, force: true }
  const input = { repositoryId: await reads.nodeId(), refUpdates: [update] }
  try {
    await client.graphql(updateRefs, { input })
    return true
  } catch (error) {
    const fault = hostError(error)
    const isElsewhere =
      hasCode(fault, 'PUBLISH_001', 'HOST_001') && ((await reads.branchHead(branch)) ?? noCommit) !== from
    if (isElsewhere) return false
    throw fault
  }
}
