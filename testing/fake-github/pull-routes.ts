import { z } from 'zod'
import { answer, found, notFound, refuse } from './answers.ts'
import { pullJson } from './bodies.ts'
import { closePull, openPull, sendPull } from './pull-events.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import { levelOf } from './world.ts'

const read = { pull_requests: 'read' } as const
const write = { pull_requests: 'write' } as const
const pulls = '/repos/{owner}/{repo}/pulls'
const one = `${pulls}/{pull_number}`

export const pullRoutes = [
  repositoryRoute(`GET ${pulls}`, read, listPulls),
  repositoryRoute(`POST ${pulls}`, write, createPull),
  repositoryRoute(`GET ${one}`, read, (call) => answer(200, pullJson(call.world, call.repository, pullOf(call)))),
  repositoryRoute(`PATCH ${one}`, write, updatePull),
  repositoryRoute(`POST ${one}/requested_reviewers`, write, requestReviewers),
]

export function pullOf({ repository, parameters }: Pick<RepositoryCall, 'repository' | 'parameters'>) {
  return found(repository.pulls.get(Number(parameters['pull_number'] ?? parameters['issue_number'])))
}

/** The open ones, the newest first. */
function listPulls({ world, repository, query }: RepositoryCall) {
  if (query.get('state') !== 'open') throw new Error('only open pull requests are listed here')
  const [head, base] = [query.get('head'), query.get('base')]
  const matching = [...repository.pulls.values()].filter(
    (pull) =>
      pull.state === 'open' &&
      (base === null || pull.base.ref === base) &&
      (head === null || head === `${repository.owner.login}:${pull.head.ref}`),
  )
  return { items: matching.toReversed().map((pull) => pullJson(world, repository, pull)) }
}

const NewPullBody = z.object({
  title: z.string().min(1),
  head: z.string(),
  base: z.string(),
  body: z.string().nullable().default(null),
  draft: z.boolean().default(false),
})

async function createPull(call: RepositoryCall) {
  const { world, repository, body } = call
  const wanted = bodyOf(NewPullBody, body)
  const { head, base } = wanted
  const { store } = repository
  const [headSha, baseSha] = [await store.tip(`refs/heads/${head}`), await store.tip(`refs/heads/${base}`)]
  if (baseSha === undefined) return invalid({ field: 'base', code: 'invalid' })
  if (headSha === undefined) return invalid({ field: 'head', code: 'invalid' })
  const isThere = repository.pulls.values().some((pull) => {
    return pull.state === 'open' && pull.head.ref === head && pull.base.ref === base
  })
  if (isThere) return invalid({ code: 'custom', message: `A pull request already exists for ${head}.` })
  if (await store.isAncestor(headSha, baseSha))
    return invalid({ code: 'custom', message: `No commits between ${base} and ${head}` })
  if ((await store.mergeBase(baseSha, headSha)) === undefined)
    return invalid({ code: 'custom', message: `The ${head} branch has no history in common with ${base}` })
  return answer(201, pullJson(world, repository, await openPull(call, wanted)))
}

function invalid(problem: { field?: string; code: string; message?: string }): never {
  return refuse(422, 'Validation Failed', { resource: 'PullRequest', ...problem })
}

const PullChange = z.strictObject({ body: z.string().optional(), state: z.literal('closed').optional() })

function updatePull(call: RepositoryCall) {
  const { world, repository } = call
  const pull = pullOf(call)
  const { state, body = pull.body } = bodyOf(PullChange, call.body)
  const event = { ...call, pull }
  const from = pull.body ?? ''
  Object.assign(pull, { body, updatedAt: world.now() })
  if (body !== from) sendPull(event, 'edited', { changes: { body: { from } } })
  if (state === 'closed' && pull.state === 'open') closePull(event)
  return answer(200, pullJson(world, repository, pull))
}

const Reviewers = z.object({ reviewers: z.array(z.string()), team_reviewers: z.array(z.string()) })

/** Only people who may write to the repository can be asked, and not its author. */
function requestReviewers(call: RepositoryCall) {
  const { world, repository } = call
  const pull = pullOf(call)
  const { reviewers, team_reviewers: teams } = bodyOf(Reviewers, call.body)
  if (teams.length > 0) notFound()
  if (reviewers.includes(pull.user.login)) refuse(422, 'Review cannot be requested from pull request author.')
  if (reviewers.some((login) => levelOf(repository, login) === 'read'))
    refuse(422, 'Reviews may only be requested from collaborators.')
  pull.reviewers = [...new Set([...pull.reviewers, ...reviewers])]
  return answer(201, pullJson(world, repository, pull))
}
