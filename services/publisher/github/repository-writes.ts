import { AppError } from '#domain/error.ts'
import type { CommitId, HostedRepository } from '#domain/repository-source.ts'
import { type GitHubClient, hostError, orHostError, statusOf, undefinedWhenMissing } from '#code-hosts/github-client.ts'

/** The state of a file after a commit; `content` null: it is deleted. */
export type WrittenFile = { path: string; executable: boolean; content: Uint8Array | null }
export type WrittenCommit = { message: string; files: readonly WrittenFile[] }

export type HostPull = {
  number: number
  url: string
  isDraft: boolean
  state: 'open' | 'closed' | 'merged'
  head: CommitId
}

/** By its branch. */
export type OpenPull = { number: number; branch: string }

export type PullText = { title: string; body: string }

/** A tree with texts is one request; more in one would be refused as too long. */
const mostTreeBytes = 4 * 1024 ** 2
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function openWrites(client: GitHubClient, repository: HostedRepository) {
  return {
    ...openGitData(client, repository),
    ...openPulls(client, repository),
    ...openConversations(client, repository),
  }
}

/** Writes by the Git data API. Blobs, trees and commits that no branch has are harmless, so every step may be done again. */
function openGitData(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  const putBlob = async (content: Uint8Array): Promise<string> => {
    const body = { content: Buffer.from(content).toString('base64'), encoding: 'base64' }
    const { data } = await orHostError(client.request('POST /repos/{owner}/{repo}/git/blobs', { ...of, ...body }))
    return data.sha
  }
  return {
    /** The tree of each commit is that of the one before with the files changed. Without an author GitHub signs for the app. */
    async makeCommits(base: { commit: CommitId; tree: string }, commits: readonly WrittenCommit[]) {
      let { commit: parent, tree: baseTree } = base
      for (const { message, files } of commits) {
        const tree = await treeEntries(files, putBlob)
        const made = client.request('POST /repos/{owner}/{repo}/git/trees', { ...of, base_tree: baseTree, tree })
        baseTree = (await orHostError(made)).data.sha
        const commit = { message, tree: baseTree, parents: [parent] }
        const { data } = await orHostError(
          client.request('POST /repos/{owner}/{repo}/git/commits', { ...of, ...commit }),
        )
        parent = data.sha
      }
      return { commit: parent, tree: baseTree }
    },
    /**
     * Creates the branch, or moves it to a commit that need not follow its own. HOST_001 when it is not where it was when the caller
     * looked: GitHub's API has no `--force-with-lease`, so it is read again right before.
     */
    async putBranch(branch: string, { from, to: sha }: { from: CommitId | undefined; to: CommitId }): Promise<void> {
      const ref = `heads/${branch}`
      const read = client.request.bind(client, 'GET /repos/{owner}/{repo}/git/ref/{ref}', { ...of, ref })
      const isMoved = async () => (await undefinedWhenMissing(read()))?.data.object.sha !== from
      if (from !== undefined && (await isMoved())) throw moved(branch)
      const written =
        from === undefined
          ? client.request('POST /repos/{owner}/{repo}/git/refs', { ...of, ref: `refs/${ref}`, sha })
          : client.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', { ...of, ref, sha, force: true })
      try {
        await written
      } catch (error) {
        const isRefused = statusOf(error) === 404 || statusOf(error) === 422
        throw isRefused && (await isMoved()) ? moved(branch, error) : hostError(error)
      }
    },
  }
}

function moved(branch: string, cause?: unknown): AppError {
  return new AppError('HOST_001', `somebody else moves the branch ${branch}: it is looked at again`, { cause })
}

function openPulls(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  const findPull = async (branch: string, base: string): Promise<HostPull | undefined> => {
    const head = `${repository.owner}:${branch}`
    const asked = client.request('GET /repos/{owner}/{repo}/pulls', { ...of, head, base, state: 'open', per_page: 1 })
    const [found] = (await orHostError(asked)).data
    if (found === undefined) return undefined
    const { number, html_url: url, draft: isDraft = false } = found
    return { number, url, isDraft, state: 'open', head: found.head.sha }
  }
  return {
    findPull,
    async readPull(number: number): Promise<HostPull | undefined> {
      const asked = client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...of, pull_number: number })
      const found = (await undefinedWhenMissing(asked))?.data
      if (found === undefined) return undefined
      const { html_url: url, draft: isDraft = false, merged } = found
      return { number, url, isDraft, state: merged ? 'merged' : found.state, head: found.head.sha }
    },
    /** The open pull requests from branches of the app, for one branch or for all. */
    async openPulls(base?: string): Promise<OpenPull[]> {
      const asked = { ...of, state: 'open' as const, per_page: 100, ...(base === undefined ? {} : { base }) }
      const open = await orHostError(client.paginate('GET /repos/{owner}/{repo}/pulls', asked))
      const ours = open.filter(({ head }) => head.ref.startsWith('remora/') && head.repo?.id === repository.id)
      return ours.map(({ number, head }) => ({ number, branch: head.ref }))
    },
    /** The one that is there where GitHub has opened it for a request whose answer never came. */
    async openPull(pull: PullText & { head: string; base: string; draft: boolean }): Promise<HostPull> {
      try {
        const { data } = await client.request('POST /repos/{owner}/{repo}/pulls', { ...of, ...pull })
        const { number, html_url: url, draft: isDraft = false } = data
        return { number, url, isDraft, state: 'open', head: data.head.sha }
      } catch (error) {
        const there = statusOf(error) === 422 ? await findPull(pull.head, pull.base) : undefined
        if (there === undefined) throw hostError(error)
        return there
      }
    },
    async closePull(number: number): Promise<void> {
      const asked = { ...of, pull_number: number, state: 'closed' as const }
      await orHostError(client.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', asked))
    },
    async updatePull(number: number, text: PullText): Promise<void> {
      await orHostError(
        client.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...of, pull_number: number, ...text }),
      )
    },
  }
}

/** What is said at a pull request, and to whom. */
function openConversations(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  return {
    async addLabels(number: number, labels: readonly string[]): Promise<void> {
      if (labels.length === 0) return
      const asked = { ...of, issue_number: number, labels: [...labels] }
      await orHostError(client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', asked))
    },
    /** Accounts, and teams as `team:NAME`. */
    async askReviewers(number: number, names: readonly string[]): Promise<void> {
      if (names.length === 0) return
      const teams = names.flatMap((name) => (name.startsWith('team:') ? [name.slice('team:'.length)] : []))
      const reviewers = names.filter((name) => !name.startsWith('team:'))
      const asked = { ...of, pull_number: number, reviewers, team_reviewers: teams }
      await orHostError(client.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', asked))
    },
    /** Writes a comment once: `key` is kept in it where people do not see it. */
    async commentOnce(number: number, { key, text }: { key: string; text: string }): Promise<void> {
      const marker = `<!-- remora:${key} -->`
      const asked = { ...of, issue_number: number, per_page: 100 }
      const all = await orHostError(client.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', asked))
      if (all.some(({ body }) => body?.includes(marker) === true)) return
      const body = `${text}\n\n${marker}`
      const made = { ...of, issue_number: number, body }
      await orHostError(client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', made))
    },
  }
}

export type RepositoryWrites = ReturnType<typeof openWrites>

/** Texts go with the tree, up to a size, other files as blobs before it. */
async function treeEntries(files: readonly WrittenFile[], putBlob: (content: Uint8Array) => Promise<string>) {
  let bytes = 0
  const entries = []
  for (const { path, executable, content } of files) {
    const entry = { path, mode: executable ? ('100755' as const) : ('100644' as const), type: 'blob' as const }
    bytes += content?.length ?? 0
    const text = content === null || bytes > mostTreeBytes ? undefined : textOf(content)
    if (content === null) entries.push({ ...entry, sha: null })
    else entries.push(text === undefined ? { ...entry, sha: await putBlob(content) } : { ...entry, content: text })
  }
  return entries
}

/** Undefined for what is no UTF-8 text, or would be changed by being sent as JSON. */
function textOf(content: Uint8Array): string | undefined {
  try {
    return utf8.decode(content)
  } catch {
    return undefined
  }
}
