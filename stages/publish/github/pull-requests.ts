import { type ChangeRequest, type OpenedChangeRequest, ownBranches } from '#code-hosts/code-host.ts'
import { type GitHubClient, hostError, orHostError, statusOf } from '#code-hosts/github-client.ts'
import { undefinedOn } from '#domain/error.ts'
import type { HostedRepository } from '#domain/repository-source.ts'

export type OpenPull = { number: number; branch: string }

type FoundPull = Omit<OpenedChangeRequest, 'result'>

export function openPullRequests(client: GitHubClient, repository: HostedRepository) {
  const of = { owner: repository.owner, repo: repository.name }
  const at = { client, repository }
  return {
    openChangeRequest: (request: ChangeRequest) => openChangeRequest(request, at),
    /** Those who may not review there are not asked. */
    labelPull: (number: number, wanted: Labels) => labelPull(number, wanted, at),
    async openPulls(base?: string): Promise<OpenPull[]> {
      const query = { ...of, state: 'open' as const, per_page: 100, ...(base === undefined ? {} : { base }) }
      const open = await orHostError(client.paginate('GET /repos/{owner}/{repo}/pulls', query))
      const ours = open.filter(({ head }) => head.ref.startsWith(ownBranches) && head.repo?.id === repository.id)
      return ours.map(({ number, head }) => ({ number, branch: head.ref }))
    },
    async closePull(number: number): Promise<void> {
      const query = { ...of, pull_number: number, state: 'closed' as const }
      await orHostError(client.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', query))
    },
    /** Again changes nothing. HOST_003 where the app may not, as at what is no pull request. */
    async react(commentId: number, content: '-1' | 'confused'): Promise<void> {
      const query = { ...of, comment_id: commentId, content }
      await orHostError(client.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', query))
    },
    /** `key` is kept in the comment where people do not see it, so that it is written once. */
    async commentOnce(number: number, { key, text }: { key: string; text: string }): Promise<void> {
      const marker = `<!-- remora:${key} -->`
      const query = { ...of, issue_number: number, per_page: 100 }
      const all = await orHostError(client.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', query))
      if (all.some(({ body }) => body?.includes(marker) === true)) return
      const body = `${text}\n\n${marker}`
      const made = { ...of, issue_number: number, body }
      await orHostError(client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', made))
    },
  }
}

type At = { client: GitHubClient; repository: HostedRepository }

async function openChangeRequest(request: ChangeRequest, at: At): Promise<OpenedChangeRequest> {
  const there = await findPull(request, at)
  if (there !== undefined) {
    const query = {
      owner: at.repository.owner,
      repo: at.repository.name,
      pull_number: there.number,
      body: request.body,
    }
    await orHostError(at.client.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', query))
  }
  const pull = there ?? (await openPull(request, at))
  await labelPull(pull.number, request, at)
  return { ...pull, result: there === undefined ? 'opened' : 'updated' }
}

type Labels = Pick<ChangeRequest, 'labels' | 'reviewers'>

async function labelPull(number: number, { labels = [], reviewers = [] }: Labels, at: At): Promise<void> {
  await addLabels(number, labels, at)
  // Somebody who may not review there must not keep the others from going on.
  await askReviewers(number, reviewers, at).catch(undefinedOn('PUBLISH_001'))
}

async function findPull(
  { branch, baseBranch: base }: Pick<ChangeRequest, 'branch' | 'baseBranch'>,
  { client, repository: { owner, name: repo } }: At,
): Promise<FoundPull | undefined> {
  const head = `${owner}:${branch}`
  const query = { owner, repo, head, base, state: 'open', per_page: 1 } as const
  const [pull] = (await orHostError(client.request('GET /repos/{owner}/{repo}/pulls', query))).data
  return pull && { number: pull.number, url: pull.html_url, isDraft: pull.draft ?? false }
}

/** GitHub may have opened one for a request whose answer never came. */
async function openPull(request: ChangeRequest, at: At): Promise<FoundPull> {
  const { branch: head, baseBranch: base, title, body, isDraft: draft } = request
  const { owner, name: repo } = at.repository
  const query = { owner, repo, head, base, title, body, draft }
  try {
    const { data } = await at.client.request('POST /repos/{owner}/{repo}/pulls', query)
    return { number: data.number, url: data.html_url, isDraft: data.draft ?? false }
  } catch (error) {
    const there = statusOf(error) === 422 ? await findPull(request, at) : undefined
    if (there === undefined) throw hostError(error)
    return there
  }
}

async function addLabels(
  number: number,
  labels: readonly string[],
  { client, repository: { owner, name: repo } }: At,
): Promise<void> {
  if (labels.length === 0) return
  const query = { owner, repo, issue_number: number, labels: [...labels] }
  await orHostError(client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', query))
}

async function askReviewers(
  number: number,
  names: readonly string[],
  { client, repository: { owner, name: repo } }: At,
): Promise<void> {
  if (names.length === 0) return
  const teams = names.flatMap((name) => (name.startsWith('team:') ? [name.slice('team:'.length)] : []))
  const reviewers = names.filter((name) => !name.startsWith('team:'))
  const query = { owner, repo, pull_number: number, reviewers, team_reviewers: teams }
  await orHostError(client.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', query))
}
