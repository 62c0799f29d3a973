import { z } from 'zod'
import { answer, found, refuse } from './answers.ts'
import { accountJson, checkRunJson, sentRepositoryJson, suiteJson } from './bodies.ts'
import { answerExample, like, webhookExample } from './examples.ts'
import { type RepositoryEvent, suiteOf } from './move-ref.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import type { CheckRun } from './world.ts'

const write = { checks: 'write' } as const
const runs = '/repos/{owner}/{repo}/check-runs'
const ofCommit = '/repos/{owner}/{repo}/commits/{ref}/check-runs'

export const checkRoutes = [
  repositoryRoute(`POST ${runs}`, write, createCheckRun),
  repositoryRoute(`PATCH ${runs}/{check_run_id}`, write, updateCheckRun),
  repositoryRoute(`GET ${ofCommit}`, { checks: 'read' }, listCheckRuns),
]

/** Their lengths and numbers are limited by GitHub's document. */
const Changes = z.object({
  name: z.string().optional(),
  details_url: z.string().optional(),
  external_id: z.string().optional(),
  status: z.string().optional(),
  started_at: z.string().optional(),
  conclusion: z.string().optional(),
  output: z
    .object({
      title: z.string().optional(),
      summary: z.string().optional(),
      annotations: z
        .array(
          z
            .looseObject({ path: z.string(), start_line: z.int().min(1), end_line: z.int(), message: z.string() })
            .refine(({ start_line: start, end_line: end }) => end >= start, 'bad range of lines'),
        )
        .default([]),
    })
    .optional(),
  actions: z.array(z.object({ label: z.string(), description: z.string(), identifier: z.string() })).optional(),
})
const NewRun = Changes.extend({ name: z.string(), head_sha: z.string() })

async function createCheckRun(call: RepositoryCall) {
  const { world, repository, body } = call
  const { head_sha: headSha, ...changes } = bodyOf(NewRun, body)
  if (!(await repository.store.has(headSha, 'commit'))) refuse(422, `No commit found for SHA: ${headSha}`)
  const run: CheckRun = {
    id: world.nextId(),
    suite: suiteOf({ world, repository }, headSha),
    name: changes.name,
    headSha,
    externalId: null,
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: world.now().toISOString(),
    completedAt: null,
    output: { title: null, summary: null, text: null },
    annotations: [],
    actions: [],
  }
  change(call, run, changes)
  repository.checkRuns.set(run.id, run)
  sendCheckRun(call, run, 'created')
  if (run.status === 'completed') sendCheckRun(call, run, 'completed')
  return answer(201, checkRunJson(world, repository, run))
}

function updateCheckRun(call: RepositoryCall) {
  const { world, repository, parameters, body } = call
  const run = found(repository.checkRuns.get(Number(parameters['check_run_id'])))
  const wasCompleted = run.status === 'completed'
  change(call, run, bodyOf(Changes, body))
  if (run.status === 'completed' && !wasCompleted) sendCheckRun(call, run, 'completed')
  return answer(200, checkRunJson(world, repository, run))
}

/** Annotations are added to those it has; all else replaces. */
function change({ world }: RepositoryCall, run: CheckRun, changes: z.infer<typeof Changes>): void {
  const { output, conclusion, status, actions = run.actions } = changes
  if (status === 'completed' && conclusion === undefined && run.conclusion === null)
    refuse(422, 'Invalid request.', { resource: 'CheckRun', field: 'conclusion', code: 'missing_field' })
  const name = changes.name ?? run.name
  const externalId = changes.external_id ?? run.externalId
  const detailsUrl = changes.details_url ?? run.detailsUrl
  Object.assign(run, { name, externalId, detailsUrl, actions, startedAt: changes.started_at ?? run.startedAt })
  if (output !== undefined) {
    const { title = run.output.title, summary = run.output.summary } = output
    run.output = { ...run.output, title, summary }
    run.annotations.push(...output.annotations)
  }
  if (status === 'completed' || conclusion !== undefined) {
    const completedAt = world.now().toISOString()
    Object.assign(run, { status: 'completed', conclusion: conclusion ?? run.conclusion, completedAt })
  } else if (status !== undefined) Object.assign(run, { status, conclusion: null, completedAt: null })
}

/** The newest first. */
function listCheckRuns({ world, repository, query, parameters }: RepositoryCall) {
  if (query.get('filter') !== 'all' || query.get('app_id') !== String(world.app.id))
    throw new Error('only all check runs of this app are listed here')
  const all = [...repository.checkRuns.values()].filter(
    ({ headSha, name }) => headSha === parameters['ref'] && name === query.get('check_name'),
  )
  const shown = all.toReversed().slice(0, Number(query.get('per_page') ?? 30))
  const list = shown.map((run) => checkRunJson(world, repository, run))
  return answer(200, like(answerExample(`GET ${ofCommit}`), { total_count: all.length, check_runs: list }))
}

/** `more` is what a person did with it. */
export function sendCheckRun(
  { world, webhooks, repository, sender }: RepositoryEvent,
  run: CheckRun,
  action: string,
  more: Record<string, unknown> = {},
): void {
  const { suite: id, headSha, status, conclusion } = run
  const pull = repository.pulls.values().find(({ head, state }) => state === 'open' && head.sha === headSha)
  const suite = { id, headSha, status, conclusion, branch: pull?.head.ref ?? repository.defaultBranch }
  const payload = {
    ...like(webhookExample('check_run', 'created'), {
      check_run: { ...checkRunJson(world, repository, run), check_suite: suiteJson(world, repository, suite) },
      repository: sentRepositoryJson(world, repository),
      sender: accountJson(world, sender),
    }),
    ...more,
  }
  webhooks.emit({ event: 'check_run', action, payload, repository })
}
