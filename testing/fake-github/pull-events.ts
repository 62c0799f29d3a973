import { accountJson, sentPullJson, sentRepositoryJson } from './bodies.ts'
import { like, webhookExample } from './examples.ts'
import type { Webhooks } from './webhooks.ts'
import type { Account, HostedRepository, PullRequest, World } from './world.ts'

export type PullEvent = {
  world: World
  webhooks: Webhooks
  repository: HostedRepository
  sender: Account
  pull: PullRequest
}

/** Tells the app what happened to a pull request. */
export function sendPull(event: PullEvent, action: string, more: Record<string, unknown> = {}): void {
  const { world, webhooks, repository, pull, sender } = event
  const payload = like(webhookExample('pull_request', 'opened'), {
    number: pull.number,
    ...more,
    pull_request: sentPullJson(world, repository, pull),
    repository: sentRepositoryJson(world, repository),
    sender: accountJson(world, sender),
  })
  webhooks.emit({ event: 'pull_request', action, payload, repository })
}

export type NewPull = Pick<PullRequest, 'title' | 'body' | 'draft'> & { head: string; base: string }

/** Both branches must exist. */
export async function openPull(event: Omit<PullEvent, 'pull'>, wanted: NewPull): Promise<PullRequest> {
  const { world, repository, sender } = event
  const { title, body, draft } = wanted
  const side = async (ref: string) => {
    const sha = await repository.store.tip(`refs/heads/${ref}`)
    if (sha === undefined) throw new Error(`there is no branch ${ref}`)
    return { ref, sha }
  }
  const now = world.now()
  const pull: PullRequest = {
    number: repository.pulls.size + 1,
    id: world.nextId(),
    title,
    body,
    draft,
    state: 'open',
    head: await side(wanted.head),
    base: await side(wanted.base),
    user: sender,
    labels: [],
    reviewers: [],
    createdAt: now,
    updatedAt: now,
    events: [],
  }
  repository.pulls.set(pull.number, pull)
  sendPull({ ...event, pull }, 'opened')
  return pull
}

/** There are new commits on its branch. */
export function synchronizePull(event: PullEvent, before: string, after: string): void {
  event.pull.head.sha = after
  event.pull.updatedAt = event.world.now()
  sendPull(event, 'synchronize', { before, after })
}

type PullEventName = PullRequest['events'][number]['event']

/** Keeps what happened to it. */
export function notePullEvent({ world, sender, pull }: PullEvent, event: PullEventName): void {
  pull.events.push({ id: world.nextId(), event, by: sender, at: world.now() })
}

/** Without a merge. */
export function closePull(event: PullEvent): void {
  const now = event.world.now()
  notePullEvent(event, 'closed')
  Object.assign(event.pull, { state: 'closed', closedAt: now, updatedAt: now })
  sendPull(event, 'closed')
}

export function reopenPull(event: PullEvent): void {
  notePullEvent(event, 'reopened')
  Object.assign(event.pull, { state: 'open', closedAt: undefined, updatedAt: event.world.now() })
  sendPull(event, 'reopened')
}

/** Its commits came into its base, by whatever way: `sha` is what the base is now. */
export function mergedByPush(event: PullEvent, sha: string): void {
  const { pull, world, sender } = event
  const now = world.now()
  for (const happened of ['merged', 'closed'] as const) notePullEvent(event, happened)
  Object.assign(pull, { state: 'closed', closedAt: now, updatedAt: now, merged: { at: now, sha, by: sender } })
  sendPull(event, 'closed')
}
