import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import {
  ProjectBudgetBody,
  ProjectBudgetView,
  ProjectPage,
  ProjectParams,
  ProjectView,
} from '#schemas/project-schema.ts'
import { type ApiEnv, type Caller, loggedCaller } from '../../http/api-env.ts'
import { endpoint, jsonAnswer, jsonBody, requireOperator } from '../../http/endpoint.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { maxProjects, type Project, type ProjectStore } from './project-store.ts'

const createProse = `
Only the token that the service was started with may do this. An id has 4 to 64 lower-case letters and digits, a letter first. Creating a project that exists changes nothing. Runs, objects,
idempotency keys and tokens of a project are visible to the tokens of that project alone; \`POST /v1/tokens\` with
\`project_id\` makes the first one. At most 1,000; INTAKE_003 above that.`

const budgetProse = `
The operator's budget and that of the owners of \`tokens:admin\` are kept apart, and the smaller counts: so a project can save, and not
take more than it was given. It counts from the next round of the dispatcher on, within a second. Once it is used up, the runs of
the project start no more operations with a model until midnight in UTC, when they go on by themselves, or until it is raised.`

export const projectEndpoints = {
  create: endpoint('operator', ['INTAKE_003', 'PROJECT_001'], {
    method: 'put',
    path: '/v1/projects/{project_id}',
    operationId: 'createProject',
    summary: 'Create a project',
    description: createProse.trim(),
    request: { params: ProjectParams },
    responses: { 200: jsonAnswer('it was there', ProjectView), 201: jsonAnswer('the new project', ProjectView) },
  }),
  list: endpoint('operator', [], {
    method: 'get',
    path: '/v1/projects',
    operationId: 'listProjects',
    summary: 'All projects, `default` first',
    responses: { 200: jsonAnswer('all of them', ProjectPage) },
  }),
  readBudget: endpoint('runs:read', ['PROJECT_001'], {
    method: 'get',
    path: '/v1/projects/{project_id}/budget',
    operationId: 'getProjectBudget',
    summary: 'What a project may use a day, and has used today',
    description: 'Another project than that of the token needs the token that the service was started with.',
    request: { params: ProjectParams },
    responses: { 200: jsonAnswer('the budget', ProjectBudgetView) },
  }),
  setBudget: endpoint('tokens:admin', ['PROJECT_001'], {
    method: 'put',
    path: '/v1/projects/{project_id}/budget',
    operationId: 'setProjectBudget',
    summary: 'Say how many tokens a project may use a day',
    description: budgetProse.trim(),
    request: { params: ProjectParams, body: jsonBody(ProjectBudgetBody) },
    responses: { 200: jsonAnswer('the budget', ProjectBudgetView) },
  }),
} as const

export type ProjectRouteDeps = { projects: ProjectStore }
export type ProjectBudgetDeps = ProjectRouteDeps & {
  ledger: Pick<Ledger, 'readProjectBudget' | 'setProjectBudget'>
  log: Pick<Log, 'info'>
}

export function projectRoutes({ projects, ledger, log }: ProjectBudgetDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(projectEndpoints.create, async (c) => {
    const { project_id: projectId } = c.req.valid('param')
    const added = await projects.add(projectId, Date.now())
    if (added === 'no room') throw new AppError('INTAKE_003', `There are ${maxProjects} projects.`)
    return c.json(projectView(await findProject(projectId, projects)), added === 'added' ? 201 : 200)
  })
  routes.openapi(projectEndpoints.list, async (c) => {
    return c.json({ projects: (await projects.list()).map(projectView) }, 200)
  })
  const budgetOf = async (projectId: ProjectId, caller: Caller) => {
    if (projectId !== caller.projectId) {
      requireOperator(caller)
      await findProject(projectId, projects)
    }
    return { view: async () => budgetView(projectId, await ledger.readProjectBudget(projectId)) }
  }
  routes.openapi(projectEndpoints.readBudget, async (c) => {
    const { view } = await budgetOf(c.req.valid('param').project_id, c.get('caller'))
    return c.json(await view(), 200)
  })
  routes.openapi(projectEndpoints.setBudget, async (c) => {
    const { project_id: projectId } = c.req.valid('param')
    const { tokens_per_day: tokens } = c.req.valid('json')
    const caller = c.get('caller')
    const { view } = await budgetOf(projectId, caller)
    const by = caller.isOperator ? 'operator' : 'own'
    const before = (await ledger.readProjectBudget(projectId))[by]
    await ledger.setProjectBudget(projectId, { by, tokens })
    if (tokens !== before)
      log.info('budget of a project set', { project_id: projectId, by, tokens, before, ...loggedCaller(caller) })
    return c.json(await view(), 200)
  })
  return routes
}

type FoundBudget = Awaited<ReturnType<Ledger['readProjectBudget']>>

function budgetView(projectId: ProjectId, { limit, operator, own, used, resetsAt }: FoundBudget): ProjectBudgetView {
  return {
    project_id: projectId,
    tokens_per_day: limit,
    set_by_operator: operator,
    set_by_project: own,
    used_today: used,
    resets_at: isoTime(resetsAt),
  }
}

function projectView(project: Project): ProjectView {
  return viewOf(ProjectView, project, { created_at: isoTime(project.createdAt) })
}

/** PROJECT_001 for a project that was not created. */
export async function findProject(projectId: ProjectId, projects: Pick<ProjectStore, 'find'>): Promise<Project> {
  const project = await projects.find(projectId)
  if (project === undefined) throw new AppError('PROJECT_001', `There is no project "${projectId}".`)
  return project
}
