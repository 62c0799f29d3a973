import { z } from '@hono/zod-openapi'
import {
  AssignBody,
  DeliveryPage,
  InstallationPage,
  InstallationView,
  PublicationAsked,
} from '#schemas/github-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { pageLimit, wholeNumber } from '../../http/schema-parts.ts'

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
  publish: endpoint('runs:write', ['RUN_001', 'RUN_005', 'RUN_006', 'PUBLISH_001', 'PUBLISH_004'], {
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
    request: { params: InstallationParams, body: { content: { 'application/json': { schema: AssignBody } } } },
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
