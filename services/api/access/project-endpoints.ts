import { z } from '@hono/zod-openapi'
import { ProjectId } from '#domain/ids.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { Time } from '../runs/run-schema.ts'

export const ProjectView = z
  .strictObject({
    project_id: ProjectId,
    created_at: Time.nullable().openapi({ description: 'null for `default`, which is always there' }),
  })
  .openapi('Project')
export type ProjectView = z.infer<typeof ProjectView>

const ProjectPage = z.strictObject({ projects: z.array(ProjectView) }).openapi('ProjectPage')

const createProse = `
Only the token that the service was started with may do this. An id has 4 to 64 lower-case letters and digits, a letter first. Creating a project that exists changes nothing. Runs, objects,
idempotency keys and tokens of a project are visible to the tokens of that project alone; \`POST /v1/tokens\` with
\`project_id\` makes the first one. At most 1,000; INTAKE_003 above that.`

/** Projects, which only the operator creates. */
export const projectEndpoints = {
  create: endpoint('operator', ['INTAKE_003', 'PROJECT_001'], {
    method: 'put',
    path: '/v1/projects/{project_id}',
    operationId: 'createProject',
    summary: 'Create a project',
    description: createProse.trim(),
    request: { params: z.object({ project_id: ProjectId }) },
    responses: { 200: jsonAnswer('it was there', ProjectView), 201: jsonAnswer('the new project', ProjectView) },
  }),
  list: endpoint('operator', [], {
    method: 'get',
    path: '/v1/projects',
    operationId: 'listProjects',
    summary: 'All projects, `default` first',
    responses: { 200: jsonAnswer('all of them', ProjectPage) },
  }),
} as const
