import { answerExample, entryExample, type Json, like, webhookExample } from './examples.ts'
import { valueAt } from './github-document.ts'
import type { GitCommit, GitPerson } from './git-store.ts'
import {
  type Account,
  accountOf,
  appBot,
  type CheckRun,
  type Comment,
  fullName,
  type HostedRepository,
  type Installation,
  type PullRequest,
  type World,
} from './world.ts'

// The fields of answers and webhooks that somebody reads. The rest are GitHub's examples.

export function nodeId(kind: string, id: number | string): string {
  return `${kind}_${Buffer.from(String(id)).toString('base64url')}`
}

export function accountJson({ origin }: World, { login, id, type }: Account): Json {
  const own = { login, id, node_id: nodeId('U', id), type, html_url: `${origin}/${encodeURIComponent(login)}` }
  return like(webhookExample('repository', 'renamed')['sender'], own)
}

export function appJson({ origin, app }: World): Json {
  const { id, slug, name, clientId, permissions, events } = app
  const own = { id, slug, name, client_id: clientId, html_url: `${origin}/apps/${slug}`, events }
  return { ...like(answerExample('GET /app'), own), permissions }
}

export function installationJson(world: World, installation: Installation): Json {
  const { id, account, suspendedAt, selection, permissions } = installation
  const created = installation.createdAt.toISOString()
  const owner = accountJson(world, account)
  const example = like(webhookExample('installation', 'suspend')['installation'], {
    id,
    account: owner,
    repository_selection: selection,
    app_id: world.app.id,
    app_slug: world.app.slug,
    target_id: account.id,
    target_type: account.type,
    events: world.app.events,
    created_at: created,
    updated_at: created,
    suspended_by: suspendedAt === undefined ? null : owner,
    suspended_at: suspendedAt?.toISOString() ?? null,
  })
  return { ...example, permissions }
}

/** The fields that answers and webhooks of any kind have. */
function repositoryFields(world: World, repository: HostedRepository): Json {
  const { id, name, owner, createdAt, pushedAt, defaultBranch } = repository
  return {
    id,
    node_id: nodeId('R', id),
    name,
    full_name: fullName(repository),
    private: false,
    owner: accountJson(world, owner),
    html_url: `${world.origin}/${fullName(repository)}`,
    url: `${world.origin}/repos/${fullName(repository)}`,
    clone_url: `${world.origin}/${fullName(repository)}.git`,
    fork: false,
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
    pushed_at: pushedAt.toISOString(),
    language: null,
    has_discussions: false,
    default_branch: defaultBranch,
  }
}

export function repositoryJson(world: World, repository: HostedRepository): Json {
  // The example is a fork of a fork.
  const others = { source: undefined, parent: undefined, template_repository: undefined, organization: undefined }
  return like(answerExample('GET /repos/{owner}/{repo}'), { ...repositoryFields(world, repository), ...others })
}

export function sentRepositoryJson(world: World, repository: HostedRepository): Json {
  return like(webhookExample('repository', 'renamed')['repository'], repositoryFields(world, repository))
}

/** Pushes have times in seconds, and the owner's name once more. */
export function pushedRepositoryJson(world: World, repository: HostedRepository): Json {
  const { owner, createdAt, pushedAt } = repository
  const seconds = (date: Date) => Math.floor(date.getTime() / 1_000)
  return like(sentRepositoryJson(world, repository), {
    owner: { name: owner.login, email: null },
    created_at: seconds(createdAt),
    pushed_at: seconds(pushedAt),
  })
}

function pullFields(world: World, repository: HostedRepository, pull: PullRequest): Json {
  const { id, number, title, body, state, draft, merged, user, reviewers } = pull
  const repo = repositoryFields(world, repository)
  const side = ({ ref, sha }: PullRequest['head']) => {
    return { label: `${repository.owner.login}:${ref}`, ref, sha, user: accountJson(world, repository.owner), repo }
  }
  return {
    id,
    number,
    node_id: nodeId('PR', id),
    url: `${world.origin}/repos/${fullName(repository)}/pulls/${number}`,
    html_url: `${world.origin}/${fullName(repository)}/pull/${number}`,
    title,
    body,
    state,
    draft,
    user: accountJson(world, user),
    labels: pull.labels.map(labelJson),
    created_at: pull.createdAt.toISOString(),
    updated_at: pull.updatedAt.toISOString(),
    closed_at: pull.closedAt?.toISOString() ?? null,
    merged_at: merged?.at.toISOString() ?? null,
    merge_commit_sha: merged?.sha ?? null,
    merged: merged !== undefined,
    merged_by: merged === undefined ? null : accountJson(world, merged.by),
    requested_reviewers: reviewers.map((login) => accountJson(world, accountOf(world, login))),
    requested_teams: [],
    head: side(pull.head),
    base: side(pull.base),
  }
}

export function pullJson(world: World, repository: HostedRepository, pull: PullRequest): Json {
  const example = answerExample('GET /repos/{owner}/{repo}/pulls/{pull_number}')
  return like(example, pullFields(world, repository, pull))
}

export function sentPullJson(world: World, repository: HostedRepository, pull: PullRequest): Json {
  return like(webhookExample('pull_request', 'opened')['pull_request'], pullFields(world, repository, pull))
}

/** As a check run names the pull requests of its commit. */
function pullsAt({ origin }: World, repository: HostedRepository, isMeant: (pull: PullRequest) => boolean) {
  const { id, name, pulls } = repository
  const url = `${origin}/repos/${fullName(repository)}`
  const side = ({ ref, sha }: PullRequest['head']) => ({ ref, sha, repo: { id, name, url } })
  const open = [...pulls.values()].filter((pull) => pull.state === 'open' && isMeant(pull))
  return open.map((pull) => {
    const { id: pullId, number, head, base } = pull
    return { id: pullId, number, url: `${url}/pulls/${number}`, head: side(head), base: side(base) }
  })
}

export function labelJson(name: string): Json {
  return like(entryExample('POST /repos/{owner}/{repo}/issues/{issue_number}/labels'), { name })
}

export function commentJson(world: World, { id, body, user, createdAt }: Comment): Json {
  const at = createdAt.toISOString()
  const own = { id, node_id: nodeId('IC', id), body, user: accountJson(world, user), created_at: at, updated_at: at }
  return like(entryExample('GET /repos/{owner}/{repo}/issues/{issue_number}/comments'), own)
}

export function checkRunJson(world: World, repository: HostedRepository, run: CheckRun): Json {
  return like(answerExample('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}'), {
    id: run.id,
    name: run.name,
    node_id: nodeId('CR', run.id),
    head_sha: run.headSha,
    external_id: run.externalId ?? '',
    details_url: run.detailsUrl ?? world.origin,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: { ...run.output, annotations_count: run.annotations.length },
    check_suite: { id: run.suite },
    app: appJson(world),
    pull_requests: pullsAt(world, repository, ({ head }) => head.sha === run.headSha),
  })
}

/** `branch` is that of the commit. */
export type Suite = { id: number; headSha: string; branch: string; status: string; conclusion: string | null }

export function suiteJson(world: World, repository: HostedRepository, suite: Suite): Json {
  const { id, headSha, branch, status, conclusion } = suite
  return like(webhookExample('check_suite', 'requested')['check_suite'], {
    id,
    node_id: nodeId('CS', id),
    head_branch: branch,
    head_sha: headSha,
    after: headSha,
    status,
    conclusion,
    app: appJson(world),
    pull_requests: pullsAt(world, repository, ({ head }) => head.ref === branch),
    head_commit: { id: headSha },
  })
}

/** As the Git data API has it. */
export function gitCommitJson(repository: HostedRepository, commit: GitCommit): Json {
  const { sha, author, committer, message } = commit
  const [parent] = gitParents()
  return like(answerExample('GET /repos/{owner}/{repo}/git/commits/{commit_sha}'), {
    sha,
    author,
    committer,
    message,
    tree: { sha: commit.tree },
    parents: commit.parents.map((one) => like(parent, { sha: one })),
    verification: verification(repository, commit),
  })
}

function gitParents(): unknown[] {
  const parents = valueAt(answerExample('GET /repos/{owner}/{repo}/git/commits/{commit_sha}'), 'parents')
  return Array.isArray(parents) ? parents : []
}

function verification({ verified }: HostedRepository, { sha }: GitCommit): Json {
  return verified.has(sha) ? { verified: true, reason: 'valid' } : { verified: false, reason: 'unsigned' }
}

/** As comparisons have it. */
export function commitJson(world: World, repository: HostedRepository, commit: GitCommit): Json {
  const { sha, author, committer, message, tree } = commit
  return like(entryExample('GET /repos/{owner}/{repo}/compare/{basehead}', 'commits'), {
    sha,
    node_id: nodeId('C', sha),
    commit: { author, committer, message, tree: { sha: tree }, verification: verification(repository, commit) },
    author: personAccount(world, author),
    committer: personAccount(world, committer),
    parents: commit.parents.map((one) => like(gitParents()[0], { sha: one })),
  })
}

/** GitHub knows who wrote a commit by the address; here that is LOGIN@users.noreply.github.com. */
function personAccount(world: World, { email }: GitPerson): Json | null {
  const login = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(email)?.[1]
  return login === undefined ? null : accountJson(world, accountOf(world, login))
}

/** The app's own bot, which is the author of what the API commits without naming anybody. */
export function botPerson(world: World): GitPerson {
  const { login, id } = appBot(world)
  return { name: login, email: `${id}+${login}@users.noreply.github.com`, date: world.now().toISOString() }
}
