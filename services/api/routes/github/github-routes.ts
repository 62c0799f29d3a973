import { OpenAPIHono, z } from '@hono/zod-openapi'
import { requireGenuine } from '#domain/genuine-run.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import type { Installation, Installations } from '#code-hosts/installations.ts'
import { AppError } from '#domain/error.ts'
import { askedFor, Publication } from '#domain/publication.ts'
import { fullNameOf } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import type { PayloadOf } from '#store/queues/catalog.ts'
import {
  AssignBody,
  DeliveryPage,
  DeliveryView,
  InstallationPage,
  InstallationView,
  PublicationAsked,
} from '#schemas/github-schema.ts'
import { findProject } from '../access/project-routes.ts'
import type { ProjectStore } from '../access/project-store.ts'
import { type ApiEnv, loggedCaller } from '../../http/api-env.ts'
import { AskAgain } from '../../http/problem.ts'
import { isoTime, pageLimit, viewOf, wholeNumber } from '../../http/schema-parts.ts'
import { publicationView, repositoryView } from '../runs/part-views.ts'
import { findRun, runLinks } from '../runs/run-view.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonBody } from '../../http/endpoint.ts'

const mostDigits = 10 ** 15 - 1
const InstallationParams = z.object({ installation_id: wholeNumber(1, mostDigits) })

const DeliveryQuery = z.strictObject({
  limit: pageLimit(1000, 50),
  ignored: z
    .enum(['hide', 'show'])
    .meta({
      id: 'IgnoredDeliveries',
      description: 'whether those are listed, too, about which nothing was to be done: most of what GitHub sends',
    })
    .default('hide'),
})

const publishProse = `
The publisher makes one branch of what is accepted, and one pull request; asked again, it brings the same one up to date. It also
tries again what it had given up (\`fault\`), and takes up a run that was dismissed. The answer comes at once: the run's \`publication\` says
what became of it. PUBLISH_004 for a run whose code was uploaded, and where no publisher is; PUBLISH_001 for one of a fork.`

const assignProse = `
Its later runs belong to the project. Only the token that the service was started with may do this. An installation is first of the
project that \`REMORA_GITHUB_PROJECT\` names. HOST_002 for one that is not known here.`

export const githubEndpoints = {
  publish: endpoint('runs:write', ['RUN_006', 'PUBLISH_001', 'PUBLISH_004'], {
    method: 'post',
    path: '/v1/runs/{run_id}/publish',
    operationId: 'publishRun',
    summary: 'Ask for the pull request of what is accepted',
    description: publishProse.trim(),
    request: { params: RunParams },
    responses: { 202: jsonAnswer('it was asked for', PublicationAsked) },
  }),
  installations: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/github/installations',
    operationId: 'listInstallations',
    summary: 'The installations of the GitHub App',
    description: 'Those of the project of the token; with the token that the service was started with, all.',
    responses: { 200: jsonAnswer('by number', InstallationPage) },
  }),
  assign: endpoint('operator', ['HOST_002', 'PROJECT_001'], {
    method: 'put',
    path: '/v1/github/installations/{installation_id}',
    operationId: 'setInstallationProject',
    summary: 'Give an installation to a project',
    description: assignProse.trim(),
    request: { params: InstallationParams, body: jsonBody(AssignBody) },
    responses: { 200: jsonAnswer('as it is now', InstallationView) },
  }),
  deliveries: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/github/deliveries',
    operationId: 'listDeliveries',
    summary: 'What became of the webhooks of GitHub',
    description:
      'The newest first, of the last 10,000 that were handled: those that concern the project of the token; with the token that the service was started with, all.',
    request: { query: DeliveryQuery },
    responses: { 200: jsonAnswer('the newest first', DeliveryPage) },
  }),
} as const

export type GithubRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  producer: { add(queue: 'publications', id: string, payload: PayloadOf<'publications'>): Promise<unknown> }
  installations: Pick<Installations, 'assign' | 'find' | 'list' | 'listRepositories'>
  inbox: Pick<DeliveryInbox, 'listHandled'>
  projects: ProjectStore
  hasPublisher: boolean
  log: Pick<Log, 'info'>
}

export function githubRoutes(deps: GithubRouteDeps): OpenAPIHono<ApiEnv> {
  const { ledger, producer, installations, inbox, projects, log } = deps
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(githubEndpoints.publish, async (c) => {
    const caller = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, caller.projectId, ledger)
    requireGenuine(run)
    const repository = publishable(run, deps)
    const publication = await askToPublish(run, ledger)
    await producer.add('publications', run.runId, { run_id: run.runId, traceparent: run.traceparent })
    log.info('publication asked for', { run_id: run.runId, project_id: run.projectId, ...loggedCaller(caller) })
    const request = { run_id: run.runId, repository, publication: publicationView(publication) }
    return c.json({ ...request, links: runLinks(run.runId) }, 202)
  })
  const viewOfAll = async (some: readonly Installation[]) => {
    const repositories = Map.groupBy(await installations.listRepositories(), (repository) => repository.installationId)
    return some.map((installation) =>
      installationView(installation, repositories.get(installation.installationId)?.map(fullNameOf) ?? []),
    )
  }
  routes.openapi(githubEndpoints.installations, async (c) => {
    const { isOperator, projectId } = c.get('caller')
    const own = (await installations.list()).filter((one) => isOperator || one.projectId === projectId)
    const byNumber = own.toSorted((left, right) => left.installationId - right.installationId)
    return c.json({ installations: await viewOfAll(byNumber) }, 200)
  })
  routes.openapi(githubEndpoints.assign, async (c) => {
    const { installation_id: installationId } = c.req.valid('param')
    const { projectId } = await findProject(c.req.valid('json').project_id, projects)
    const isKnown = await installations.assign(installationId, projectId)
    const installation = isKnown ? await installations.find(installationId) : undefined
    const [view] = installation === undefined ? [] : await viewOfAll([installation])
    if (view === undefined) throw new AppError('HOST_002', `There is no installation "${installationId}".`)
    log.info('installation assigned', { installation: installationId, project_id: projectId })
    return c.json(view, 200)
  })
  routes.openapi(githubEndpoints.deliveries, async (c) => {
    const { isOperator, projectId } = c.get('caller')
    const { limit, ignored } = c.req.valid('query')
    const which = { projectId: isOperator ? undefined : projectId, withoutIgnored: ignored === 'hide' }
    const handled = await inbox.listHandled(limit, which)
    return c.json(
      { deliveries: handled.map((delivery) => viewOf(DeliveryView, delivery, { at: isoTime(delivery.at) })) },
      200,
    )
  })
  return routes
}

function publishable(run: Run, { hasPublisher }: Pick<GithubRouteDeps, 'hasPublisher'>) {
  const { runId } = run
  const repository = repositoryView(run)
  const otherWay = `"remora publish ${runId} --to PATH" makes a branch of what is accepted in a repository of yours`
  if (repository === null)
    throw new AppError('PUBLISH_004', `The code of run "${runId}" was uploaded, not fetched from GitHub: ${otherWay}.`)
  if (!hasPublisher) throw new AppError('PUBLISH_004', `This service has no publisher: ${otherWay}.`)
  if (run.request.repository?.isFork === true)
    throw new AppError('PUBLISH_001', `Run "${runId}" is of a fork: nothing of it is published.`)
  return repository
}

/** The publisher may write at the same time, but only so often. */
const mostTries = 20

async function askToPublish({ runId }: Run, ledger: GithubRouteDeps['ledger']): Promise<Publication> {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = (await ledger.getRun(runId)).publication ?? Publication.parse({})
    const noted = await ledger.notePublication(runId, { publication: askedFor(before) })
    if (noted !== undefined) return noted
  }
  throw new AskAgain('RUN_006', `Run "${runId}" is being published just now: ask again in a moment.`, 1)
}

const mostShown = 100

function installationView(installation: Installation, repositories: readonly string[]): InstallationView {
  return viewOf(InstallationView, installation, {
    repository_count: repositories.length,
    repositories: repositories.toSorted().slice(0, mostShown),
  })
}
