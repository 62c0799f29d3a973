import { AppError } from '#domain/error.ts'
import { type CommitId, fullNameOf, type HostedRepository } from '#domain/repository-source.ts'
import { readAtMost } from '#platform/read-body.ts'
import { type GitHubClient, hostError, orHostError, statusOf, undefinedWhenMissing } from '#code-hosts/github-client.ts'

/** GitHub says who may see it: an answer that there is none may mean that the app may not see it. */
export function openReads(client: GitHubClient, repository: HostedRepository) {
  return {
    ...openDescription(client, repository),
    ...openNames(client, repository),
    ...openFiles(client, repository),
    ...openPulls(client, repository),
    ...openCommits(client, repository),
  }
}

function openDescription(client: GitHubClient, { owner, name: repo }: HostedRepository) {
  const describe = async () => (await orHostError(client.request('GET /repos/{owner}/{repo}', { owner, repo }))).data
  return {
    defaultBranch: async (): Promise<string> => (await describe()).default_branch,
    webUrl: async (): Promise<string> => (await describe()).html_url,
    nodeId: async (): Promise<string> => (await describe()).node_id,
  }
}

function openNames(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    /** It takes a branch, a tag, a commit or `refs/…`. HOST_004 where there is none. */
    async resolve(ref: string): Promise<CommitId> {
      try {
        const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...of, ref })
        return data.sha
      } catch (error) {
        const status = statusOf(error)
        if (status !== 404 && status !== 409 && status !== 422) throw hostError(error)
        const text = `${fullNameOf(repository)} has no branch, tag or commit ${JSON.stringify(ref)}`
        throw new AppError('HOST_004', text, { cause: error })
      }
    },
    async branchHead(branch: string): Promise<CommitId | undefined> {
      const ref = `heads/${branch}`
      const answer = client.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...of, ref })
      return (await undefinedWhenMissing(answer))?.data.object.sha
    },
    async permissionOf(login: string): Promise<string> {
      const query = { ...of, username: login }
      const answer = client.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', query)
      return (await undefinedWhenMissing(answer))?.data.permission ?? 'none'
    },
  }
}

function openFiles(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    /** It is undefined where there is no file. Of one with more than `maxBytes` no more is fetched, and the text has a byte too many. */
    async readText(path: string, ref: string, maxBytes: number): Promise<string | undefined> {
      const headers = { accept: 'application/vnd.github.raw+json' }
      const asItComes = { parseSuccessResponseBody: false }
      const named = { ...of, path, ref, headers, request: asItComes }
      const answer = await undefinedWhenMissing(client.request('GET /repos/{owner}/{repo}/contents/{path}', named))
      const body: unknown = answer?.data
      if (!(body instanceof ReadableStream)) return undefined
      const isFile = /\braw\b/.test(answer?.headers['content-type'] ?? '')
      if (isFile) return Buffer.from(await readAtMost(body, maxBytes)).toString()
      await body.cancel()
      return undefined
    },
  }
}

type FoundPull = { state: 'open' | 'closed' | 'merged'; head: CommitId }

function openPulls(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    /** It finds pull requests from forks, too; undefined for one that is gone. */
    async findPull(number: number): Promise<FoundPull | undefined> {
      const answer = client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...of, pull_number: number })
      const pull = (await undefinedWhenMissing(answer))?.data
      return pull && { state: pull.merged ? 'merged' : pull.state, head: pull.head.sha }
    },
    /** The oldest comes first; `at` is in ms, to the second. */
    async pullEvents(number: number): Promise<{ event: string; at: number }[]> {
      const named = { ...of, issue_number: number, per_page: 100 }
      const answer = client.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/events', named)
      return (await orHostError(answer)).map(({ event, created_at: at }) => ({ event, at: Date.parse(at) }))
    },
  }
}

/** A comparison lists so many changed files. */
const mostListed = 300

function openCommits(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    async treeOf(commit: CommitId): Promise<string> {
      const answer = client.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { ...of, commit_sha: commit })
      return (await orHostError(answer, 'HOST_004')).data.tree.sha
    },
    /** It returns what `head`, a commit or branch, has changed since it left `base`; undefined where GitHub cannot tell all of it. */
    async changedPaths(base: CommitId, head: string): Promise<Set<string> | undefined> {
      const basehead = `${base}...${head}`
      const answer = client.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...of, basehead, per_page: 1 })
      const files = (await undefinedWhenMissing(answer))?.data.files
      if (files === undefined || files.length >= mostListed) return undefined
      const paths = files.flatMap(({ filename, previous_filename: before }) => [filename, before ?? filename])
      return new Set(paths)
    },
    /** It is undefined when they have nothing in common. */
    async mergeBase(base: string, commit: CommitId): Promise<CommitId | undefined> {
      const basehead = `${base}...${commit}`
      const answer = client.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...of, basehead, per_page: 1 })
      return (await undefinedWhenMissing(answer))?.data.merge_base_commit.sha
    },
  }
}

export type RepositoryReads = ReturnType<typeof openReads>
