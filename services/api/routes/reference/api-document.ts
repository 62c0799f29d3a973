import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import { packageVersion } from '#platform/package-version.ts'
import { eventShapes } from '#schemas/event-shapes.ts'
import { RepositoryRunBody, RunRequestBody } from '#schemas/run-request-schema.ts'
import { agendaEndpoints } from '../agenda/agenda-routes.ts'
import { askEndpoints } from '../asks/ask-routes.ts'
import { intakeEndpoints, RunSubmission } from '../intake/intake-endpoints.ts'
import { pageEndpoint, probeEndpoints, referenceEndpoints } from '../../service-endpoints.ts'
import { changeEndpoints } from '../review/change-routes.ts'
import { patchEndpoints } from '../review/patch-routes.ts'
import { nodeEndpoints } from '../runs/node-routes.ts'
import { findingEndpoints } from '../runs/finding-routes.ts'
import { questionEndpoints } from '../runs/question-routes.ts'
import { eventEndpoints } from '../events/event-routes.ts'
import { runEndpoints } from '../runs/run-routes.ts'
import { projectEndpoints } from '../access/project-routes.ts'
import { usageEndpoints } from '../usage/usage-routes.ts'
import { workerEndpoints } from '../fleet/worker-routes.ts'
import { tokenEndpoints } from '../access/token-routes.ts'
import { sessionEndpoints } from '../access/session-routes.ts'
import { agentEndpoints } from '../fleet/agent-routes.ts'
import { githubEndpoints } from '../github/github-routes.ts'
import { GithubWebhook, webhookEndpoints } from '../webhooks/webhook-routes.ts'
import { transcriptEndpoints } from '../transcript/transcript-routes.ts'

export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

const groups: readonly { tag: string; endpoints: Readonly<Record<string, RouteConfig>> }[] = [
  {
    tag: 'Runs',
    endpoints: {
      ...intakeEndpoints,
      ...runEndpoints,
      ...eventEndpoints,
      ...agendaEndpoints,
      ...askEndpoints,
      ...transcriptEndpoints,
      ...nodeEndpoints,
      ...findingEndpoints,
      ...questionEndpoints,
    },
  },
  { tag: 'Changes', endpoints: { ...changeEndpoints, ...patchEndpoints } },
  { tag: 'Tokens', endpoints: { ...tokenEndpoints, ...sessionEndpoints } },
  { tag: 'Projects', endpoints: projectEndpoints },
  { tag: 'Agents', endpoints: agentEndpoints },
  { tag: 'Workers', endpoints: workerEndpoints },
  { tag: 'Usage', endpoints: usageEndpoints },
  { tag: 'GitHub', endpoints: { ...githubEndpoints, ...webhookEndpoints } },
  { tag: 'Service', endpoints: { ...probeEndpoints, dashboard: pageEndpoint, ...referenceEndpoints } },
]

/** A test compares them with the routes that are served. */
export const endpoints: readonly RouteConfig[] = groups.flatMap((group) => Object.values(group.endpoints))

const intro = `
JSON in and out, snake_case. Errors are \`application/problem+json\`: \`{type, title, status, detail, error_code, run_id?}\`.
The codes are in \`ErrorCode\`, and with their meaning in \`docs/reference/errors.md\` of the repository.

Everything under \`/v1\` needs \`Authorization: Bearer <token>\`: the \`REMORA_TOKEN\` of the service, which is the operator's,
or a token made by \`remora token create\` or \`POST /v1/tokens\`, which may do what its scopes say. No or an unknown token is
401 AUTH_001, one without the scope 403 AUTH_002. A token belongs to one project (\`REMORA_TOKEN\` to \`default\`) and finds
nothing of another: what belongs to another project is answered like what does not exist.

Any request may also be answered with: 400 HTTP_004 (not valid HTTP), 404 HTTP_001 (no such address), 405 HTTP_002 (with
\`Allow\`), 408 HTTP_006 (it came too slowly), 417 HTTP_008, 429 LIMIT_001 (too many requests of this token, or with unknown
tokens from this address; \`Retry-After\`), 431 HTTP_005, 500 HTTP_007 (a bug; \`detail\` has the id to look for in the log),
503 STORE_001 (Redis is unreachable; \`Retry-After\`). Under \`/v1\` an unknown or wrong query parameter is 400 RUN_002. A JSON body
of another content type is 415 HTTP_003, one above 64 KiB 413 INTAKE_003, one that does not fit 422 INTAKE_008. No body
counts as \`{}\`.

\`X-Request-Id\` of a request (up to 64 letters, digits, \`-\`, \`_\`, \`=\`) is that of its answer and of its line in the log;
without one, the service makes one. There is no CORS: other sites cannot call the API from a browser.`

export function apiDocument(): ApiDocument {
  const app = new OpenAPIHono()
  const registry = app.openAPIRegistry
  // Copies: a schema that was made before the library was loaded has not got its methods.
  registry.register('RunRequest', RunRequestBody.clone())
  registry.register('RepositoryRunRequest', RepositoryRunBody.clone())
  for (const { component, shape } of eventShapes) registry.register(component, shape)
  registry.registerComponent('schemas', 'RunSubmission', RunSubmission)
  registry.registerComponent('schemas', 'GithubWebhook', GithubWebhook)
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  for (const { tag, endpoints: own } of groups) {
    for (const declared of Object.values(own)) {
      const { middleware: _middleware, hide: _hide, ...route } = declared
      registry.registerPath({ ...route, tags: [tag] })
    }
  }
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Remora', version: packageVersion(), description: intro.trim() },
    tags: groups.map(({ tag }) => ({ name: tag })),
  })
  const { schemas = {} } = document.components ?? {}
  for (const schema of Object.values(schemas)) describeDefaults(schema)
  schemas['Event'] = anyEvent
  return document
}

const placeOf = (component: string) => `#/components/schemas/${component}`
const anyEvent = {
  description: 'A numbered fact of a run. Fields that do not apply are left out.',
  oneOf: eventShapes.map(({ component }) => ({ $ref: placeOf(component) })),
  discriminator: {
    propertyName: 'event',
    mapping: Object.fromEntries(eventShapes.map(({ name, component }) => [name, placeOf(component)])),
  },
}

type ComponentSchema = NonNullable<NonNullable<ApiDocument['components']>['schemas']>[string]

/** openapi-typescript takes `default` to mean that a field is always present, so it moves into the description. */
function describeDefaults(schema: ComponentSchema): void {
  if ('default' in schema) delete schema.default
  if (!('properties' in schema)) return
  for (const property of Object.values(schema.properties ?? {})) {
    if (!('default' in property)) continue
    const { default: usual, description } = property
    delete property.default
    const isEmpty = usual === '' || JSON.stringify(usual) === '[]' // what is left out is empty: nothing to say
    const parts = [description, isEmpty ? undefined : `Default: ${JSON.stringify(usual)}.`]
    const text = parts.filter((part) => part !== undefined).join('. ')
    if (text !== '') property.description = text
  }
}
