import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import { type ProjectBudgetView, ProjectView } from '#schemas/project-schema.ts'
import { type ApiEnv, type Caller, loggedCaller } from '../../http/api-env.ts'
import { requireOperator } from '../../http/endpoint.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { projectEndpoints } from './project-endpoints.ts'
import { maxProjects, type Project, type ProjectStore } from './project-store.ts'

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
