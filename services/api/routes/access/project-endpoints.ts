import {
  ProjectBudgetBody,
  ProjectBudgetView,
  ProjectPage,
  ProjectParams,
  ProjectView,
} from '#schemas/project-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

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
    request: { params: ProjectParams, body: { content: { 'application/json': { schema: ProjectBudgetBody } } } },
    responses: { 200: jsonAnswer('the budget', ProjectBudgetView) },
  }),
} as const
