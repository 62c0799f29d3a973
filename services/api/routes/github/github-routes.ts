import { OpenAPIHono } from '@hono/zod-openapi'
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
import { DeliveryView, InstallationView } from '#schemas/github-schema.ts'
import { findProject } from '../access/project-routes.ts'
import type { ProjectStore } from '../access/project-store.ts'
import { type ApiEnv, loggedCaller } from '../../http/api-env.ts'
import { AskAgain } from '../../http/problem.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { publicationView, repositoryView } from '../runs/part-views.ts'
import { findRun, runLinks } from '../runs/run-view.ts'
import { githubEndpoints } from './github-endpoints.ts'

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
    const own = (await installations.list()).filter(
      (installation) => isOperator || installation.projectId === projectId,
    )
    return c.json({ installations: await viewOfAll(own.toSorted(byNumber)) }, 200)
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

function byNumber(left: Installation, right: Installation): number {
  return left.installationId - right.installationId
}

const mostShown = 100

function installationView(installation: Installation, repositories: readonly string[]): InstallationView {
  return viewOf(InstallationView, installation, {
    repository_count: repositories.length,
    repositories: repositories.toSorted().slice(0, mostShown),
  })
}
