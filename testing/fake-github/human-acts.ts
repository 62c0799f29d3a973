import { accountJson, sentRepositoryJson } from './bodies.ts'
import { sendCheckRun } from './check-routes.ts'
import { like, webhookExample } from './examples.ts'
import { addComment } from './issue-routes.ts'
import { type RepositoryEvent, moveRef, requestChecks } from './move-ref.ts'
import { type NewPull, closePull, mergedByPush, openPull, reopenPull } from './pull-events.ts'
import type { Webhooks } from './webhooks.ts'
import { type CheckRun, type Comment, type HostedRepository, type PullRequest, type World, accountOf } from './world.ts'

/** Null: the file goes. */
export type FileChanges = Record<
  string,
  string | Uint8Array | null | { content: string | Uint8Array; executable: true }
>

/** Who does it: a login, by default that of a collaborator. */
type By = { by?: string }
type CommitOptions = By & { message?: string; parent?: string }
type MergeOptions = By & { method?: 'merge' | 'squash' }

export const defaultPerson = 'ada'

/** What people do in the browser, with the webhooks that follow. */
export function humanActs({ world, webhooks, repository }: Host & { repository: HostedRepository }) {
  const { store } = repository
  const eventBy = (login: string = defaultPerson): RepositoryEvent => ({
    world,
    webhooks,
    repository,
    sender: accountOf(world, login),
  })

  function pullOf(number: number): PullRequest {
    const pull = repository.pulls.get(number)
    if (pull === undefined) throw new Error(`there is no pull request ${number}`)
    return pull
  }

  async function tipOf(branch: string): Promise<string> {
    const sha = await store.tip(`refs/heads/${branch}`)
    if (sha === undefined) throw new Error(`there is no branch ${branch}`)
    return sha
  }

  function runOf(id: number): CheckRun {
    const run = repository.checkRuns.get(id)
    if (run === undefined) throw new Error(`there is no check run ${id}`)
    return run
  }

  async function humanCommit(branch: string, files: FileChanges, options: CommitOptions) {
    const before = await store.tip(`refs/heads/${branch}`)
    const parent = options.parent ?? before ?? (await store.tip(`refs/heads/${repository.defaultBranch}`))
    const after = await commitFiles({ world, repository }, { parent, files, ...options })
    await moveRef(eventBy(options.by), {
      ref: `refs/heads/${branch}`,
      ...(before === undefined ? {} : { before }),
      after,
    })
    return after
  }

  async function mergePull(number: number, { by, method = 'merge' }: MergeOptions): Promise<string> {
    const pull = pullOf(number)
    const event = eventBy(by)
    const before = await store.tip(`refs/heads/${pull.base.ref}`)
    const tree = before === undefined ? undefined : await store.mergedTree(before, pull.head.sha)
    if (pull.state !== 'open' || before === undefined || tree === undefined)
      throw new Error(`pull request ${number} cannot be merged`)
    const title = `Merge pull request #${number} from ${repository.owner.login}/${pull.head.ref}\n\n${pull.title}`
    const message = method === 'merge' ? title : `${pull.title} (#${number})\n\n${pull.body ?? ''}`
    const parents = method === 'merge' ? [before, pull.head.sha] : [before]
    const person = personOf(world, by)
    const after = await store.writeCommit({ tree, parents, author: person, committer: person, message })
    if (method === 'squash') mergedByPush({ ...event, pull }, after)
    await moveRef(event, { ref: `refs/heads/${pull.base.ref}`, before, after })
    return after
  }

  return {
    /** On a branch, or on a new one from the default branch. Returns the commit. */
    humanCommit: (branch: string, files: FileChanges, options: CommitOptions = {}) =>
      world.inTurn(() => humanCommit(branch, files, options)),
    /** By a real merge commit, or by one commit that has all of it. Returns the commit. */
    mergePull: (number: number, options: MergeOptions = {}) => world.inTurn(() => mergePull(number, options)),
    /** From now on the API knows it by this name alone. */
    rename(name: string) {
      const changes = { repository: { name: { from: repository.name } } }
      repository.name = name
      const own = { changes, repository: sentRepositoryJson(world, repository) }
      const payload = like(webhookExample('repository', 'renamed'), {
        ...own,
        sender: accountJson(world, eventBy().sender),
      })
      webhooks.emit({ event: 'repository', action: 'renamed', payload, repository })
    },
    deleteBranch: (branch: string) =>
      world.inTurn(async () => moveRef(eventBy(), { ref: `refs/heads/${branch}`, before: await tipOf(branch) })),
    openPull(wanted: By & Partial<NewPull> & { head: string }) {
      const { by, head, base = repository.defaultBranch, title = head, body = null, draft = false } = wanted
      return world.inTurn(() => openPull(eventBy(by), { head, base, title, body, draft }))
    },
    closePull: (number: number) => world.inTurn(async () => closePull({ ...eventBy(), pull: pullOf(number) })),
    reopenPull: (number: number) => world.inTurn(async () => reopenPull({ ...eventBy(), pull: pullOf(number) })),
    comment: (number: number, body: string, { by }: By = {}): Comment =>
      addComment(eventBy(by), { pull: pullOf(number), body }),
    /** Presses a button of a check run. */
    requestAction(id: number, identifier: string, { by }: By = {}) {
      const run = runOf(id)
      if (!run.actions.some((one) => one.identifier === identifier)) throw new Error(`no action ${identifier}`)
      sendCheckRun(eventBy(by), run, 'requested_action', { requested_action: { identifier } })
    },
    /** Asks for all checks of a branch again. */
    async rerequestSuite(branch: string) {
      requestChecks(eventBy(), { branch, headSha: await tipOf(branch) }, 'rerequested')
    },
    rerequest: (id: number) => sendCheckRun(eventBy(), runOf(id), 'rerequested'),
  }
}

type Host = { world: World; webhooks: Webhooks }
type NewCommit = By & { parent: string | undefined; files: FileChanges; message?: string }

/** A commit of a person; nothing points to it yet. */
export async function commitFiles(
  { world, repository }: { world: World; repository: HostedRepository },
  { parent, files, message, by }: NewCommit,
): Promise<string> {
  const { store } = repository
  const changes = []
  for (const [path, file] of Object.entries(files)) {
    const executable = file !== null && typeof file === 'object' && 'executable' in file
    const content = executable ? file.content : file
    const sha = content === null ? null : await store.writeBlob(content)
    changes.push({ path, mode: executable ? '100755' : '100644', sha })
  }
  const tree = await store.writeTree(parent, changes)
  const person = personOf(world, by)
  const text = message ?? `Change ${Object.keys(files).slice(0, 3).join(', ')}`
  return store.writeCommit({
    tree,
    parents: parent === undefined ? [] : [parent],
    author: person,
    committer: person,
    message: text,
  })
}

function personOf(world: World, login: string = defaultPerson) {
  const { id } = accountOf(world, login)
  return { name: login, email: `${id}+${login}@users.noreply.github.com`, date: world.now().toISOString() }
}
