import { refuse } from './answers.ts'
import { accountJson, pushedRepositoryJson, sentRepositoryJson, suiteJson } from './bodies.ts'
import { like, webhookExample } from './examples.ts'
import { noCommit } from './git-store.ts'
import { type PullEvent, closePull, mergedByPush, notePullEvent, synchronizePull } from './pull-events.ts'
import type { HostedRepository } from './world.ts'

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
  const payload = await pushJson(event, { ref: move.ref, before, after })
  webhooks.emit({ event: 'push', payload, repository })
  const branch = /^refs\/heads\/(.+)$/.exec(move.ref)?.[1]
  if (branch === undefined) return
  if (move.after !== undefined) requestChecks(event, { branch, headSha: after }, 'requested')
  for (const pull of repository.pulls.values()) await updatePull({ ...event, pull }, branch, move)
}

async function updatePull(event: PullEvent, branch: string, { before = noCommit, after }: RefMove): Promise<void> {
  const { pull, repository } = event
  const isHead = pull.head.ref === branch
  if (isHead && after === undefined) {
    if (pull.state === 'open') closePull(event)
    notePullEvent(event, 'head_ref_deleted') // after the other, in the same second
  }
  if (pull.state === 'closed' || after === undefined) return undefined
  if (isHead) synchronizePull(event, before, after)
  if (pull.base.ref !== branch) return undefined
  if (await repository.store.isAncestor(pull.head.sha, after)) return mergedByPush(event, after)
  pull.base.sha = after
  return undefined
}

/** Lists no commits: nobody here reads them. */
async function pushJson({ world, repository, sender }: RepositoryEvent, move: Required<RefMove>) {
  const { before, after } = move
  const example = webhookExample('push')
  const [created, deleted] = [before === noCommit, after === noCommit]
  const forced = !created && !deleted && !(await repository.store.isAncestor(before, after))
  return like(example, {
    ...move,
    created,
    deleted,
    forced,
    head_commit: deleted ? null : like(example['head_commit'], { id: after }),
    pusher: { name: sender.login, email: `${sender.login}@users.noreply.github.com` },
    repository: pushedRepositoryJson(world, repository),
    sender: accountJson(world, sender),
  })
}

/** GitHub asks every app that may write checks to check what was pushed; people may ask again. */
export function requestChecks(
  { world, webhooks, repository, sender }: RepositoryEvent,
  { branch, headSha }: { branch: string; headSha: string },
  action: 'requested' | 'rerequested',
): void {
  const id = suiteOf({ world, repository }, headSha)
  const suite = suiteJson(world, repository, { id, headSha, branch, status: 'queued', conclusion: null })
  const payload = like(webhookExample('check_suite', action), {
    check_suite: suite,
    repository: sentRepositoryJson(world, repository),
    sender: accountJson(world, sender),
  })
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
