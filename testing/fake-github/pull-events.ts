import { accountJson, repositoryJson } from './account-json.ts'
import { fullPullJson } from './pull-json.ts'
import type { Webhooks } from './webhooks.ts'
import { type Account, type HostedRepository, type PullRequest, type World, appBot } from './world.ts'

export type PullEvent = {
  world: World
  webhooks: Webhooks
  repository: HostedRepository
  sender: Account
  pull: PullRequest
}

/** Tells the app what happened to a pull request. */
export async function sendPull(event: PullEvent, action: string, more: Record<string, unknown> = {}): Promise<void> {
  const { world, webhooks, repository, pull, sender } = event
  const payload = {
    number: pull.number,
    ...more,
    pull_request: await fullPullJson(world, repository, pull),
    repository: repositoryJson(world, repository),
    sender: accountJson(world, sender),
  }
  webhooks.emit({ event: 'pull_request', action, payload, repository })
}

export type NewPull = {
  head: string
  /** Where the branch is, if not in the same repository. */
  fork?: HostedRepository
  base: string
  title: string
  body: string | null
  draft: boolean
}

/** Both branches must exist. */
export async function openPull(event: Omit<PullEvent, 'pull'>, wanted: NewPull): Promise<PullRequest> {
  const { world, repository, sender } = event
  const { fork } = wanted
  const side = async (ref: string, from = repository) => {
    const sha = await from.store.tip(`refs/heads/${ref}`)
    if (sha === undefined) throw new Error(`there is no branch ${ref}`)
    return { ref, sha, ...(from === repository ? {} : { fork: from }) }
  }
  const now = world.now()
  const pull: PullRequest = {
    number: ++repository.lastNumber,
    id: world.nextId(),
    title: wanted.title,
    body: wanted.body,
    state: 'open',
    draft: wanted.draft,
    head: await side(wanted.head, fork),
    base: await side(wanted.base),
    user: sender,
    labels: [],
    reviewers: [],
    createdAt: now,
    updatedAt: now,
    events: [],
  }
  await fetchHead(repository, pull)
  repository.pulls.set(pull.number, pull)
  await sendPull({ ...event, pull }, 'opened')
  return pull
}

/** A fork's commits are kept in the repository, too, as `refs/pull/NUMBER/head`. */
async function fetchHead({ store }: HostedRepository, { number, head }: PullRequest): Promise<void> {
  if (head.fork === undefined) return
  const refs = `+refs/heads/${head.ref}:refs/pull/${number}/head`
  await store.git(['fetch', '--quiet', head.fork.store.folder, refs])
}

/** There are new commits on its branch. */
export async function synchronizePull(event: PullEvent, before: string, after: string): Promise<void> {
  const { pull, repository, world } = event
  pull.head.sha = after
  pull.updatedAt = world.now()
  await fetchHead(repository, pull)
  await sendPull(event, 'synchronize', { before, after })
}

type PullEventName = PullRequest['events'][number]['event']

/** Keeps what happened to it. */
export function notePullEvent({ world, sender, pull }: PullEvent, event: PullEventName): void {
  pull.events.push({ id: world.nextId(), event, by: sender, at: world.now() })
}

/** Without a merge. */
export async function closePull(event: PullEvent): Promise<void> {
  const now = event.world.now()
  notePullEvent(event, 'closed')
  Object.assign(event.pull, { state: 'closed', closedAt: now, updatedAt: now })
  await sendPull(event, 'closed')
}

export async function reopenPull(event: PullEvent): Promise<void> {
  notePullEvent(event, 'reopened')
  Object.assign(event.pull, { state: 'open', closedAt: undefined, updatedAt: event.world.now() })
  await sendPull(event, 'reopened')
}

/** Its commits came into its base, by whatever way: `sha` is what the base is now. */
export async function mergedByPush(event: PullEvent, sha: string): Promise<void> {
  const { pull, world, sender } = event
  const now = world.now()
  const by = sender.type === 'Bot' ? appBot(world) : sender
  for (const happened of ['merged', 'closed'] as const) notePullEvent(event, happened)
  Object.assign(pull, { state: 'closed', closedAt: now, updatedAt: now, merged: { at: now, sha, by } })
  await sendPull(event, 'closed')
}
