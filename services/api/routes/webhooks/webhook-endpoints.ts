import { WebhookAnswer } from '#schemas/github-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const githubProse = `
For GitHub, which signs what it sends with the webhook secret of the GitHub App (\`X-Hub-Signature-256\`), not for tokens. It is there only
where \`REMORA_GITHUB_WEBHOOK_SECRET\` is set; the App has to send \`application/json\`. A wrong or missing signature is INTAKE_004. The
answer comes after one write to Redis: what is to be done about the webhook is done later, and \`GET /v1/github/deliveries\`
says what that was. A body has at most 25 MB, as GitHub's own have, and 10 s to arrive.

What this endpoint does not take is not lost: the publisher asks GitHub for the webhooks that failed.`

/** It is not read before its signature is checked. */
export const GithubWebhook = { type: 'object' as const, additionalProperties: true }

/** Other services call these on their own account, without a token. */
export const webhookEndpoints = {
  github: endpoint(null, ['HTTP_003', 'INTAKE_003', 'INTAKE_004', 'INTAKE_008', 'LIMIT_002', 'STORE_001'], {
    method: 'post',
    path: '/webhooks/github',
    operationId: 'takeGithubWebhook',
    summary: 'A webhook of GitHub',
    description: githubProse.trim(),
    request: {
      body: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/GithubWebhook' } } },
      },
    },
    responses: {
      200: jsonAnswer('it arrived before', WebhookAnswer),
      202: jsonAnswer('it is kept, and handled later', WebhookAnswer),
    },
  }),
} as const
