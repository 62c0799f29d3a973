import { z } from 'zod'
import { answer, found, notFound, refuse } from './answers.ts'
import { diffTrees } from './git-diff.ts'
import { commitJson, diffJson } from './git-json.ts'
import { fullPullJson, pullJson } from './pull-json.ts'
import { closePull, openPull, reopenPull, sendPull } from './pull-events.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import { levelOf } from './world.ts'

const read = { pull_requests: 'read' } as const
const write = { pull_requests: 'write' } as const
const pulls = '/repos/{owner}/{repo}/pulls'
const one = `${pulls}/{pull_number}`

export const pullRoutes = [
  repositoryRoute(`GET ${pulls}`, read, listPulls),
  repositoryRoute(`POST ${pulls}`, write, createPull),
  repositoryRoute(`GET ${one}`, read, async (call) =>
    answer(200, await fullPullJson(call.world, call.repository, pullOf(call))),
  ),
  repositoryRoute(`PATCH ${one}`, write, updatePull),
  repositoryRoute(`GET ${one}/files`, read, listFiles),
  repositoryRoute(`GET ${one}/commits`, read, listCommits),
  repositoryRoute(`POST ${one}/requested_reviewers`, write, requestReviewers),
]

export function pullOf({ repository, parameters }: Pick<RepositoryCall, 'repository' | 'parameters'>) {
  return found(repository.pulls.get(Number(parameters['pull_number'] ?? parameters['issue_number'])))
}

/** Newest first, unless asked otherwise; by default the open ones. */
function listPulls({ world, repository, query }: RepositoryCall) {
  const state = query.get('state') ?? 'open'
  const [head, base] = [query.get('head'), query.get('base')]
  const matching = [...repository.pulls.values()].filter(
    (pull) =>
      (state === 'all' || pull.state === state) &&
      (base === null || pull.base.ref === base) &&
      (head === null ||
        !head.includes(':') ||
        head === `${(pull.head.fork ?? repository).owner.login}:${pull.head.ref}`),
  )
  const time = query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt'
  const direction = query.get('direction') ?? (query.has('sort') && query.get('sort') !== 'created' ? 'asc' : 'desc')
  const ascending = matching.toSorted((a, b) => a[time].getTime() - b[time].getTime() || a.number - b.number)
  const ordered = direction === 'asc' ? ascending : ascending.toReversed()
  return { items: ordered.map((pull) => pullJson(world, repository, pull)) }
}

const NewPullBody = z.object({
  title: z.string().default(''),
  head: z.string(),
  base: z.string(),
  body: z.string().nullable().default(null),
  draft: z.boolean().default(false),
})

async function createPull(call: RepositoryCall) {
  const { world, repository, body } = call
  const { head: named, base, ...texts } = bodyOf(NewPullBody, body)
  const { store } = repository
  const head = named.replace(`${repository.owner.login}:`, '')
  if (texts.title === '') invalid('title', 'missing_field')
  const [headSha, baseSha] = [await store.tip(`refs/heads/${head}`), await store.tip(`refs/heads/${base}`)]
  if (baseSha === undefined) return invalid('base', 'invalid')
  if (headSha === undefined) return invalid('head', 'invalid')
  const label = `${repository.owner.login}:${head}`
  const open = repository.pulls.values().find((pull) => {
    return pull.state === 'open' && pull.head.ref === head && pull.base.ref === base
  })
  if (open !== undefined) return custom(`A pull request already exists for ${label}.`)
  if (await store.isAncestor(headSha, baseSha)) return custom(`No commits between ${base} and ${head}`)
  if ((await store.mergeBase(baseSha, headSha)) === undefined)
    return custom(`The ${head} branch has no history in common with ${base}`)
  const pull = await openPull(call, { head, base, ...texts })
  return answer(201, await fullPullJson(world, repository, pull))
}

function invalid(field: string, code: string): never {
  return refuse(422, 'Validation Failed', { errors: [{ resource: 'PullRequest', field, code }] })
}

function custom(message: string): never {
  return refuse(422, 'Validation Failed', { errors: [{ resource: 'PullRequest', code: 'custom', message }] })
}

const PullChange = z.object({
  title: z.string().optional(),
  body: z.string().nullable().optional(),
  state: z.enum(['open', 'closed']).optional(),
  base: z.string().optional(),
})

async function updatePull(call: RepositoryCall) {
  const { world, repository, body } = call
  const pull = pullOf(call)
  const { state, base, ...texts } = bodyOf(PullChange, body)
  const event = { ...call, pull }
  const changes: Record<string, { from: unknown }> = {}
  if (texts.title !== undefined && texts.title !== pull.title) changes['title'] = { from: pull.title }
  if (texts.body !== undefined && texts.body !== pull.body) changes['body'] = { from: pull.body ?? '' }
  Object.assign(pull, texts, { updatedAt: world.now() })
  if (base !== undefined && base !== pull.base.ref) {
    const sha = await repository.store.tip(`refs/heads/${base}`)
    if (sha === undefined) return invalid('base', 'invalid')
    pull.base = { ref: base, sha }
  }
  if (Object.keys(changes).length > 0) await sendPull(event, 'edited', { changes })
  if (state === 'closed' && pull.state === 'open') await closePull(event)
  if (state === 'open' && pull.state === 'closed') {
    if (pull.merged !== undefined || (await repository.store.tip(`refs/heads/${pull.head.ref}`)) === undefined)
      return custom('The pull request cannot be reopened.')
    await reopenPull(event)
  }
  return answer(200, await fullPullJson(world, repository, pull))
}

async function listFiles(call: RepositoryCall) {
  const { world, repository } = call
  const { head, base } = pullOf(call)
  const start = (await repository.store.mergeBase(base.sha, head.sha)) ?? base.sha
  const files = await diffTrees(repository.store, start, head.sha)
  return { items: files.slice(0, 3_000).map((file) => diffJson(world, repository, file, head.sha)) }
}

async function listCommits(call: RepositoryCall) {
  const { world, repository } = call
  const { head, base } = pullOf(call)
  const { store } = repository
  const start = (await store.mergeBase(base.sha, head.sha)) ?? base.sha
  const shas = await store.lines(['rev-list', '--reverse', '--max-count=250', `${start}..${head.sha}`])
  const commits = await store.readCommits(shas)
  return { items: commits.map((commit) => commitJson(world, repository, commit)) }
}

const Reviewers = z.object({
  reviewers: z.array(z.string()).default([]),
  team_reviewers: z.array(z.string()).default([]),
})

/** Only people who can read the repository can be asked, and not its author. */
function requestReviewers(call: RepositoryCall) {
  const { world, repository, body } = call
  const pull = pullOf(call)
  const { reviewers, team_reviewers: teams } = bodyOf(Reviewers, body)
  if (teams.length > 0) notFound()
  if (reviewers.includes(pull.user.login)) refuse(422, 'Review cannot be requested from pull request author.')
  const strangers = reviewers.filter(
    (login) => repository.owner.login !== login && !repository.collaborators.has(login),
  )
  if (strangers.length > 0 || levelOf(repository, reviewers[0] ?? '') === 'none')
    refuse(422, 'Reviews may only be requested from collaborators.')
  pull.reviewers = [...new Set([...pull.reviewers, ...reviewers])]
  return answer(201, pullJson(world, repository, pull))
}
