import { isUtf8 } from 'node:buffer'
import { OpenAPIHono } from '@hono/zod-openapi'
import { Webhooks } from '@octokit/webhooks'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { readBody } from '#platform/read-body.ts'
import { openUploadGate } from '../intake/intake-routes.ts'
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

/** Without `secret`, which GitHub signs with, there is no endpoint. */
export type WebhookRouteDeps = {
  secret: string | undefined
  inbox: Pick<DeliveryInbox, 'put'>
  bodyMs?: number
}

/** GitHub sends no larger ones. */
const maxBytes = 25 * 1024 * 1024
/** GitHub does not wait for longer. */
const usualBodyMs = 10_000
/**
 * A body may be anybody's before its signature is checked. Small ones, which nearly all are, are bounded by the connections;
 * only so many others are in memory at once, and one more waits for a moment.
 */
const smallBytes = 64 * 1024
const [largeAtOnce, waitMs] = [4, 2_000]

const signatureForm = /^sha256=[0-9a-f]{64}$/
const wrongSignature = 'The signature of the webhook is missing or wrong: is its secret the one of this service?'
const wrongType =
  'Send application/json: set the content type of the webhook, in the settings of the GitHub App, to application/json.'

const packed = 'Send the body as it is: one with a Content-Encoding is not taken.'

/** Each webhook that is signed is kept, once, until somebody has handled it. */
export function webhookRoutes({ secret, inbox, bodyMs = usualBodyMs }: WebhookRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  if (secret === undefined) return routes
  const { verify } = new Webhooks({ secret })
  const largeGate = openUploadGate(largeAtOnce, waitMs)
  routes.openapi(webhookEndpoints.github, async (c) => {
    const { raw } = c.req
    if (!/^application\/json *(?:;|$)/i.test(c.req.header('content-type') ?? ''))
      throw new AppError('HTTP_003', wrongType)
    if (c.req.header('content-encoding') !== undefined) throw new AppError('HTTP_003', packed)
    // Without anything like a signature, nothing of a body is read.
    const signature = c.req.header('x-hub-signature-256') ?? ''
    if (!signatureForm.test(signature)) throw new AppError('INTAKE_004', wrongSignature)
    const isSmall = Number(c.req.header('content-length') ?? Infinity) <= smallBytes
    const leave = isSmall ? () => {} : await largeGate(raw.signal)
    try {
      const bytes = isSmall
        ? await readSmall(raw)
        : await readBody(raw, { maxBytes, signal: AbortSignal.timeout(bodyMs) })
      const payload = jsonOf(await signedText(bytes, (text) => verify(text, signature)))
      const headers = { deliveryId: c.req.header('x-github-delivery'), event: c.req.header('x-github-event') }
      const delivery = deliveryOf(headers, payload)
      const isNew = (await inbox.put(delivery)) === 'new'
      const { deliveryId: delivery_id } = delivery
      return isNew ? c.json({ delivery_id, status: 'taken' }, 202) : c.json({ delivery_id, status: 'seen' }, 200)
    } finally {
      leave()
    }
  })
  return routes
}

/** It is faster than part by part. The server reads no more than was declared, and ends connections that are too slow. */
async function readSmall(request: Request): Promise<Buffer> {
  try {
    return Buffer.from(await request.arrayBuffer())
  } catch (cause) {
    throw new AppError('HTTP_004', 'The body broke off before its end.', { cause })
  }
}

/** It throws INTAKE_004 for a body that GitHub has not signed. */
async function signedText(bytes: Buffer, verify: (text: string) => Promise<boolean>): Promise<string> {
  // What is signed is UTF-8. In other bytes some would be lost on their way to a text, and the signature would not be theirs.
  const text = isUtf8(bytes) ? bytes.toString() : ''
  if (text === '' || !(await verify(text))) throw new AppError('INTAKE_004', wrongSignature)
  return text
}

function jsonOf(text: string): unknown {
  const value = parseJson(text)
  if (value === undefined) throw new AppError('INTAKE_008', 'body: not JSON')
  return value
}

export function showInbox({ gauge }: Pick<Metrics, 'gauge'>, { backlog }: Pick<DeliveryInbox, 'backlog'>): void {
  gauge('remora_oldest_webhook_seconds', async () => {
    const { oldestAt } = await backlog()
    return [{ labels: {}, value: oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / 1000 }]
  })
}
