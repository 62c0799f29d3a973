import { diffTrees } from './git-diff.ts'
import { accountJson, appJson, nodeId, repositoryJson } from './account-json.ts'
import { urlsOf } from './git-json.ts'
import { type Comment, type HostedRepository, type PullRequest, type World, accountOf, levelOf } from './world.ts'

/** What the API says of pull requests, their labels and comments. */
export function pullJson(world: World, repository: HostedRepository, pull: PullRequest) {
  const { api, html } = urlsOf(world, repository)
  const url = `${api}/pulls/${pull.number}`
  const issueUrl = `${api}/issues/${pull.number}`
  const htmlUrl = `${html}/pull/${pull.number}`
  const links = {
    self: url,
    html: htmlUrl,
    issue: issueUrl,
    comments: `${issueUrl}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${api}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses: `${api}/statuses/${pull.head.sha}`,
  }
  return {
    url,
    id: pull.id,
    node_id: nodeId('PR', pull.id),
    html_url: htmlUrl,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    issue_url: issueUrl,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: links.statuses,
    number: pull.number,
    state: pull.state,
    locked: false,
    active_lock_reason: null,
    title: pull.title,
    body: pull.body,
    user: accountJson(world, pull.user),
    labels: pull.labels.map((name) => labelJson(world, repository, name)),
    milestone: null,
    draft: pull.draft,
    created_at: pull.createdAt.toISOString(),
    updated_at: pull.updatedAt.toISOString(),
    closed_at: pull.closedAt?.toISOString() ?? null,
    merged_at: pull.merged?.at.toISOString() ?? null,
    merge_commit_sha: pull.merged?.sha ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.reviewers.map((login) => accountJson(world, accountOf(world, login))),
    requested_teams: [],
    head: sideJson(world, pull.head.fork ?? repository, pull.head),
    base: sideJson(world, repository, pull.base),
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: associationOf(repository, pull.user.login),
    auto_merge: null,
  }
}

function sideJson(world: World, repository: HostedRepository, { ref, sha }: { ref: string; sha: string }) {
  const { owner } = repository
  const repo = repositoryJson(world, repository)
  return { label: `${owner.login}:${ref}`, ref, sha, user: accountJson(world, owner), repo }
}

/** With all that a single pull request has: whether it can be merged, and its size. */
export async function fullPullJson(world: World, repository: HostedRepository, pull: PullRequest) {
  const { store } = repository
  const { head, base } = pull
  const merged = pull.merged !== undefined
  const start = (await store.mergeBase(base.sha, head.sha)) ?? base.sha
  const files = await diffTrees(store, start, head.sha)
  const commits = Number((await store.fixed(['rev-list', '--count', `${start}..${head.sha}`])).stdout)
  const open = pull.state === 'open'
  const mergeable = open ? (await store.mergedTree(base.sha, head.sha)) !== undefined : null
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
  return {
    ...pullJson(world, repository, pull),
    merged,
    mergeable,
    rebaseable: mergeable,
    mergeable_state: mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty',
    merged_by: pull.merged === undefined ? null : accountJson(world, pull.merged.by),
    comments: commentsOf(repository, pull).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits,
    additions: sum(files.map((one) => one.additions)),
    deletions: sum(files.map((one) => one.deletions)),
    changed_files: files.length,
  }
}

/** As a check run names the pull requests of its commit. */
export function shortPullJson(world: World, repository: HostedRepository, pull: PullRequest) {
  const { api } = urlsOf(world, repository)
  const side = ({ ref, sha }: { ref: string; sha: string }) => {
    return { ref, sha, repo: { id: repository.id, url: api, name: repository.name } }
  }
  return {
    id: pull.id,
    number: pull.number,
    url: `${api}/pulls/${pull.number}`,
    head: side(pull.head),
    base: side(pull.base),
  }
}

export function labelJson(world: World, repository: HostedRepository, name: string) {
  const id = repository.labels.get(name) ?? world.nextId()
  repository.labels.set(name, id)
  const url = `${urlsOf(world, repository).api}/labels/${encodeURIComponent(name)}`
  return { id, node_id: nodeId('LA', id), url, name, description: '', color: 'ededed', default: false }
}

/** What GitHub says of a person in its webhooks and comments. */
export function associationOf(repository: HostedRepository, login: string): string {
  if (repository.owner.login === login) return 'OWNER'
  const level = levelOf(repository, login)
  return level === 'write' || level === 'admin' ? 'COLLABORATOR' : 'NONE'
}

function commentsOf(repository: HostedRepository, { number }: PullRequest): Comment[] {
  return [...repository.comments.values()].filter((one) => one.number === number)
}

export function commentJson(world: World, repository: HostedRepository, comment: Comment) {
  const { api, html } = urlsOf(world, repository)
  const url = `${api}/issues/comments/${comment.id}`
  return {
    id: comment.id,
    node_id: nodeId('IC', comment.id),
    url,
    html_url: `${html}/pull/${comment.number}#issuecomment-${comment.id}`,
    issue_url: `${api}/issues/${comment.number}`,
    user: accountJson(world, comment.user),
    created_at: comment.createdAt.toISOString(),
    updated_at: comment.updatedAt.toISOString(),
    author_association: comment.association,
    body: comment.body,
    reactions: noReactions(`${url}/reactions`),
    performed_via_github_app: comment.user.type === 'Bot' ? appJson(world) : null,
  }
}

function noReactions(url: string) {
  const none = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 }
  return { url, total_count: 0, ...none }
}

/** The pull request as the issue that it also is, in webhooks of comments. */
export function issueJson(world: World, repository: HostedRepository, pull: PullRequest) {
  const { api, html } = urlsOf(world, repository)
  const url = `${api}/issues/${pull.number}`
  const htmlUrl = `${html}/pull/${pull.number}`
  const links = { diff_url: `${htmlUrl}.diff`, patch_url: `${htmlUrl}.patch` }
  return {
    url,
    repository_url: api,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: htmlUrl,
    id: pull.id,
    node_id: nodeId('PR', pull.id),
    number: pull.number,
    title: pull.title,
    user: accountJson(world, pull.user),
    labels: pull.labels.map((name) => labelJson(world, repository, name)),
    state: pull.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: commentsOf(repository, pull).length,
    created_at: pull.createdAt.toISOString(),
    updated_at: pull.updatedAt.toISOString(),
    closed_at: pull.closedAt?.toISOString() ?? null,
    author_association: associationOf(repository, pull.user.login),
    active_lock_reason: null,
    draft: pull.draft,
    body: pull.body,
    reactions: noReactions(`${url}/reactions`),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    pull_request: { url: `${api}/pulls/${pull.number}`, html_url: htmlUrl, ...links },
  }
}
