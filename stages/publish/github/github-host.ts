import type { BranchOrder, CodeHost, HostBranch, StatusReport } from '#code-hosts/code-host.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'
import { AppError } from '#domain/error.ts'
import type { GitTree } from '#domain/planned-commit.ts'
import { type CommitId, fullNameOf, type HostedRepository } from '#domain/repository-source.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { reportStatus } from './check-runs.ts'
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
