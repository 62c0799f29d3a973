import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { isoTime, viewOf } from '../http/schema-parts.ts'
import { projectEndpoints, ProjectView } from './project-endpoints.ts'
import { maxProjects, type Project, type ProjectStore } from './project-store.ts'

export type ProjectRouteDeps = { projects: ProjectStore }

/** Creating and listing projects, for the operator alone. */
export function projectRoutes({ projects }: ProjectRouteDeps): OpenAPIHono<ApiEnv> {
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
  return routes
}

function projectView(project: Project): ProjectView {
  return viewOf(ProjectView, project, { created_at: isoTime(project.createdAt) })
}

/** PROJECT_001 for a project that was not created. */
export async function findProject(projectId: ProjectId, projects: Pick<ProjectStore, 'find'>): Promise<Project> {
  const found = await projects.find(projectId)
  if (found === undefined) throw new AppError('PROJECT_001', `There is no project "${projectId}".`)
  return found
}
