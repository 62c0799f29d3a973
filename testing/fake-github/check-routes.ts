import { z } from 'zod'
import { accountJson, repositoryJson } from './account-json.ts'
import { answer, found, refuse } from './answers.ts'
import { annotationsJson, checkRunJson, otherAppId, sentCheckRunJson } from './check-json.ts'
import { commitNamed } from './commit-named.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import { type RepositoryEvent, suiteOf } from './move-ref.ts'
import type { CheckRun } from './world.ts'

const read = { checks: 'read' } as const
const write = { checks: 'write' } as const
const runs = '/repos/{owner}/{repo}/check-runs'

export const checkRoutes = [
  repositoryRoute(`POST ${runs}`, write, createCheckRun),
  repositoryRoute(`GET ${runs}/{check_run_id}`, read, (call) => answer(200, runJson(call, runOf(call)))),
  repositoryRoute(`PATCH ${runs}/{check_run_id}`, write, updateCheckRun),
  repositoryRoute(`GET ${runs}/{check_run_id}/annotations`, read, (call) => ({
    items: annotationsJson(call.world, call.repository, runOf(call)),
  })),
  repositoryRoute('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', read, listCheckRuns),
]

function runJson({ world, repository }: RepositoryCall, run: CheckRun) {
  return checkRunJson(world, repository, run)
}

function runOf({ repository, parameters }: RepositoryCall): CheckRun {
  return found(repository.checkRuns.get(Number(parameters['check_run_id'])))
}

/** Their lengths and numbers are limited by GitHub's document. */
const Changes = z.object({
  name: z.string().optional(),
  details_url: z.string().optional(),
  external_id: z.string().optional(),
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  started_at: z.string().optional(),
  completed_at: z.string().optional(),
  conclusion: z.string().optional(),
  output: z
    .object({
      title: z.string().optional(),
      summary: z.string().optional(),
      text: z.string().optional(),
      annotations: z
        .array(
          z.object({
            path: z.string(),
            start_line: z.number(),
            end_line: z.number(),
            start_column: z.number().optional(),
            end_column: z.number().optional(),
            annotation_level: z.string(),
            message: z.string(),
            title: z.string().optional(),
            raw_details: z.string().optional(),
          }),
        )
        .default([]),
    })
    .optional(),
  actions: z.array(z.object({ label: z.string(), description: z.string(), identifier: z.string() })).optional(),
})
const NewRun = Changes.extend({ name: z.string(), head_sha: z.string() })

async function createCheckRun(call: RepositoryCall) {
  const { repository, body } = call
  const { head_sha: headSha, ...changes } = bodyOf(NewRun, body)
  if (!(await repository.store.has(headSha, 'commit'))) refuse(422, `No commit found for SHA: ${headSha}`)
  const run = newCheckRun(call, { name: changes.name, headSha })
  change(call, run, changes)
  repository.checkRuns.set(run.id, run)
  sendCheckRun(call, run, 'created')
  if (run.status === 'completed') sendCheckRun(call, run, 'completed')
  return answer(201, runJson(call, run))
}

/** Queued; nobody knows it yet. */
export function newCheckRun(
  { world, repository }: Pick<RepositoryEvent, 'world' | 'repository'>,
  { name, headSha }: { name: string; headSha: string },
): CheckRun {
  return {
    id: world.nextId(),
    suite: suiteOf({ world, repository }, headSha),
    name,
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
}

function updateCheckRun(call: RepositoryCall) {
  const run = runOf(call)
  if (run.otherApp !== undefined) refuse(403, 'This check run can only be modified by the GitHub App that created it.')
  const wasCompleted = run.status === 'completed'
  change(call, run, bodyOf(Changes, call.body))
  if (run.status === 'completed' && !wasCompleted) sendCheckRun(call, run, 'completed')
  return answer(200, runJson(call, run))
}

/** Annotations are added to those it has; all else replaces. */
function change({ world }: RepositoryCall, run: CheckRun, changes: z.infer<typeof Changes>): void {
  const { output, conclusion, status, actions } = changes
  if (status === 'completed' && conclusion === undefined && run.conclusion === null)
    refuse(422, 'Invalid request.', { errors: [{ resource: 'CheckRun', field: 'conclusion', code: 'missing_field' }] })
  for (const { start_line: start, end_line: end, start_column: column } of output?.annotations ?? [])
    if (end < start || start < 1 || (column !== undefined && start !== end))
      refuse(422, 'Invalid request.', {
        errors: [{ resource: 'CheckAnnotation', code: 'invalid', message: 'bad range of lines' }],
      })
  run.name = changes.name ?? run.name
  run.externalId = changes.external_id ?? run.externalId
  run.detailsUrl = changes.details_url ?? run.detailsUrl
  run.startedAt = changes.started_at ?? run.startedAt
  run.actions = actions ?? run.actions
  if (output !== undefined) {
    const { title = run.output.title, summary = run.output.summary, text = run.output.text } = output
    run.output = { title, summary, text }
    run.annotations.push(...output.annotations)
  }
  const completed = conclusion !== undefined || changes.completed_at !== undefined || status === 'completed'
  run.status = completed ? 'completed' : (status ?? run.status)
  run.conclusion = completed ? (conclusion ?? run.conclusion) : status === undefined ? run.conclusion : null
  run.completedAt = completed
    ? (changes.completed_at ?? world.now().toISOString())
    : status === undefined
      ? run.completedAt
      : null
}

async function listCheckRuns(call: RepositoryCall) {
  const { world, repository, query, parameters } = call
  const sha = await commitNamed(repository, parameters['ref'] ?? '')
  if (sha === undefined) return refuse(422, `No commit found for SHA: ${parameters['ref']}`)
  const [name, appId, status] = [query.get('check_name'), query.get('app_id'), query.get('status')]
  const matching = [...repository.checkRuns.values()].filter(
    (run) =>
      run.headSha === sha &&
      (name === null || run.name === name) &&
      (status === null || run.status === status) &&
      (appId === null || Number(appId) === (run.otherApp === undefined ? world.app.id : otherAppId)),
  )
  const latest = new Map(matching.map((run) => [run.name, run]))
  const shown = query.get('filter') === 'all' ? matching : [...latest.values()]
  const items = shown.toReversed().map((run) => checkRunJson(world, repository, run))
  return { items, wrap: (page: unknown[]) => ({ total_count: items.length, check_runs: page }) }
}

/** `more` is what a person did with it. */
export function sendCheckRun(
  event: RepositoryEvent,
  run: CheckRun,
  action: string,
  more: Record<string, unknown> = {},
): void {
  const { world, webhooks, repository, sender } = event
  const payload = {
    check_run: sentCheckRunJson(world, repository, run),
    ...more,
    repository: repositoryJson(world, repository),
    sender: accountJson(world, sender),
  }
  webhooks.emit({ event: 'check_run', action, payload, repository })
}
