import { refuse } from './answers.ts'
import { changedPaths } from './git-diff.ts'
import { type GitCommit, emptyTree, noCommit } from './git-store.ts'
import { accountJson, appJson, nodeId, repositoryJson } from './account-json.ts'
import { urlsOf } from './git-json.ts'
import { shortPullJson } from './pull-json.ts'
import { type PullEvent, closePull, mergedByPush, notePullEvent, synchronizePull } from './pull-events.ts'
import type { HostedRepository, PullRequest } from './world.ts'

/** Where something happens, and who does it. */
export type RepositoryEvent = Omit<PullEvent, 'pull'>

/** Without `before` the ref is new; without `after` it goes. */
export type RefMove = { ref: string; before?: string; after?: string }

/** Moves a ref as the API or a person in the browser does it, and tells whom it concerns. */
export async function moveRef(event: RepositoryEvent, move: RefMove): Promise<void> {
  const { store } = event.repository
  const old = move.before ?? noCommit
  const change = move.after === undefined ? ['-d', move.ref, old] : [move.ref, move.after, old]
  const { code } = await store.git(['update-ref', ...change], { allow: [1, 128] })
  if (code !== 0) refuse(422, 'Reference cannot be updated') // a `git push` was faster, or the name cannot be
  await refMoved(event, move)
}

/** All that follows when a ref has moved, also by a real `git push`. */
export async function refMoved(event: RepositoryEvent, move: RefMove): Promise<void> {
  const { world, webhooks, repository } = event
  repository.pushedAt = world.now()
  const { before = noCommit, after = noCommit } = move
  if (before === after) return
  webhooks.emit({ event: 'push', payload: await pushJson(event, { ref: move.ref, before, after }), repository })
  const branch = /^refs\/heads\/(.+)$/.exec(move.ref)?.[1]
  if (branch === undefined) return
  if (move.after !== undefined) await requestChecks(event, { branch, before, after }, 'requested')
  for (const concerned of world.repositories.values())
    for (const pull of concerned.pulls.values())
      await updatePull(
        { ...event, repository: concerned, pull },
        { from: repository, branch, before, after: move.after },
      )
}

async function updatePull(
  event: PullEvent,
  {
    from,
    branch,
    before,
    after,
  }: { from: HostedRepository; branch: string; before: string; after: string | undefined },
): Promise<void> {
  const { pull, repository } = event
  const isHead = pull.head.ref === branch && (pull.head.fork ?? repository) === from
  if (isHead && after === undefined) {
    if (pull.state === 'open') await closePull(event)
    notePullEvent(event, 'head_ref_deleted') // after the other, in the same second
  }
  if (pull.state === 'closed') return undefined
  if (isHead && after !== undefined) await synchronizePull(event, before, after)
  if (pull.base.ref !== branch || from !== repository || after === undefined) return undefined
  if (await repository.store.isAncestor(pull.head.sha, after)) return mergedByPush(event, after)
  pull.base.sha = after
  return undefined
}

async function pushJson(event: RepositoryEvent, { ref, before, after }: Required<RefMove>) {
  const { world, repository, sender } = event
  const { store } = repository
  const { html } = urlsOf(world, repository)
  const created = before === noCommit
  const deleted = after === noCommit
  const commits = deleted ? [] : await newCommits(event, { ref, before, after })
  const tip = deleted ? undefined : await store.tip(after) // a tag may be an object of its own
  const [head] = tip === undefined ? [] : await store.readCommits([tip])
  const forced = !created && tip !== undefined && !(await store.isAncestor(before, after))
  const range = created ? after.slice(0, 12) : `${before.slice(0, 12)}...${after.slice(0, 12)}`
  return {
    ref,
    before,
    after,
    base_ref: null,
    created,
    deleted,
    forced,
    compare: `${html}/compare/${range}`,
    commits: await Promise.all(commits.map((commit) => pushedCommitJson(event, commit))),
    head_commit: head === undefined ? null : await pushedCommitJson(event, head),
    pusher: { name: sender.login, email: `${sender.login}@users.noreply.github.com` },
    repository: pushedRepositoryJson(event),
    sender: accountJson(world, sender),
  }
}

const mostCommits = 2_048

/** Oldest first; those of a new branch are the ones that no other branch has. */
async function newCommits(
  { repository }: RepositoryEvent,
  { ref, before, after }: Required<RefMove>,
): Promise<GitCommit[]> {
  const { store } = repository
  const others = (await store.listRefs('refs/heads')).filter((one) => one.ref !== ref).map(({ sha }) => `^${sha}`)
  const without = before === noCommit ? others : [`^${before}`]
  const shas = await store.lines(['rev-list', '--reverse', `--max-count=${mostCommits}`, after, ...without])
  return store.readCommits(shas)
}

async function pushedCommitJson({ world, repository }: RepositoryEvent, commit: GitCommit) {
  const { store } = repository
  const [parent] = commit.parents
  const paths = await changedPaths(store, parent ?? emptyTree, commit.sha)
  const person = ({ name, email, date }: GitCommit['author']) => ({ name, email, date })
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message,
    timestamp: commit.committer.date,
    url: `${urlsOf(world, repository).html}/commit/${commit.sha}`,
    author: person(commit.author),
    committer: person(commit.committer),
    ...paths,
  }
}

/** Pushes have times in seconds, and the owner's name once more. */
function pushedRepositoryJson({ world, repository }: RepositoryEvent) {
  const json = repositoryJson(world, repository)
  const seconds = (date: Date) => Math.floor(date.getTime() / 1_000)
  return {
    ...json,
    owner: { ...json.owner, name: json.owner.login, email: null },
    created_at: seconds(repository.createdAt),
    pushed_at: seconds(repository.pushedAt),
    stargazers: 0,
    master_branch: repository.defaultBranch,
  }
}

type Branch = { branch: string; before: string; after: string }

/** GitHub asks every app that may write checks to check what was pushed; people may ask again. */
export async function requestChecks(
  { world, webhooks, repository, sender }: RepositoryEvent,
  { branch, before, after }: Branch,
  action: 'requested' | 'rerequested',
) {
  const [commit] = await repository.store.readCommits([after])
  if (commit === undefined) return
  const id = suiteOf({ world, repository }, after)
  const { api } = urlsOf(world, repository)
  const pulls = repository.pulls
    .values()
    .filter((pull: PullRequest) => pull.head.ref === branch && pull.state === 'open')
  const now = world.now().toISOString()
  const { name, email } = commit.author
  const suite = {
    id,
    node_id: nodeId('CS', id),
    head_branch: branch,
    head_sha: after,
    status: 'queued',
    conclusion: null,
    url: `${api}/check-suites/${id}`,
    before,
    after,
    pull_requests: [...pulls].map((pull) => shortPullJson(world, repository, pull)),
    app: appJson(world),
    created_at: now,
    updated_at: now,
    rerequestable: true,
    runs_rerequestable: true,
    latest_check_runs_count: 0,
    check_runs_url: `${api}/check-suites/${id}/check-runs`,
    head_commit: {
      id: after,
      tree_id: commit.tree,
      message: commit.message,
      timestamp: commit.committer.date,
      author: { name, email },
      committer: { name: commit.committer.name, email: commit.committer.email },
    },
  }
  const payload = {
    check_suite: suite,
    repository: repositoryJson(world, repository),
    sender: accountJson(world, sender),
  }
  webhooks.emit({ event: 'check_suite', action, payload, repository })
}

export function suiteOf(
  { world, repository }: { world: RepositoryEvent['world']; repository: HostedRepository },
  sha: string,
) {
  const id = repository.suites.get(sha) ?? world.nextId()
  repository.suites.set(sha, id)
  return id
}
