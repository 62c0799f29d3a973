import { z } from 'zod'
import { type Answer, answer, found } from './answers.ts'
import { issueToken } from './authenticate.ts'
import { appJson, installationJson } from './bodies.ts'
import { answerExample, entryExample, like } from './examples.ts'
import { convertManifest } from './manifest-flow.ts'
import { type Call, type Route, appRoute, bodyOf } from './routes.ts'
import type { Delivery } from './webhooks.ts'
import { findRepository, installationOf } from './world.ts'

/** What the app asks with its own key, for itself. */
export const appRoutes: Route[] = [
  appRoute('GET /app', ({ world }) => answer(200, appJson(world))),
  appRoute('GET /app/installations/{installation_id}', (call) =>
    answer(200, installationJson(call.world, installationIn(call))),
  ),
  appRoute('POST /app/installations/{installation_id}/access_tokens', createToken),
  appRoute('GET /repos/{owner}/{repo}/installation', readInstallation),
  appRoute('GET /app/hook/config', ({ world, webhooks }) => {
    const config = { ...webhooks.config, url: webhooks.url() ?? `${world.origin}/nowhere` }
    return answer(200, like(answerExample('GET /app/hook/config'), config))
  }),
  appRoute('GET /app/hook/deliveries', listDeliveries),
  appRoute('GET /app/hook/deliveries/{delivery_id}', ({ webhooks, parameters }) => {
    const delivery = found(webhooks.deliveries.find(({ id }) => id === Number(parameters['delivery_id'])))
    const example = answerExample('GET /app/hook/deliveries/{delivery_id}')
    return answer(200, {
      ...like(example, deliveryFields(delivery)),
      request: { headers: {}, payload: delivery.payload },
    })
  }),
  { operation: 'POST /app-manifests/{code}/conversions', for: 'anybody', handle: convertManifest },
]

function installationIn({ world, parameters }: Call) {
  return found(world.installations.get(Number(parameters['installation_id'])))
}

const WantedToken = z.object({
  repository_ids: z.array(z.number()).max(500).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
})

function createToken(call: Call): Answer {
  const { token, expiresAt, permissions } = issueToken(call.world, installationIn(call), bodyOf(WantedToken, call.body))
  const example = answerExample('POST /app/installations/{installation_id}/access_tokens')
  const own = { token, expires_at: expiresAt.toISOString().replace('.000', '') }
  return answer(201, { ...like(example, own), permissions })
}

function readInstallation({ world, parameters }: Call): Answer {
  const repository = found(findRepository(world, parameters['owner'] ?? '', parameters['repo'] ?? ''))
  return answer(200, installationJson(world, found(installationOf(world, repository))))
}

/** Newest first. The next page begins below the id that the cursor names. */
function listDeliveries({ world, webhooks, query }: Call): Answer {
  const perPage = Number(query.get('per_page') ?? 30)
  const below = Number(/^v1_(\d+)$/.exec(query.get('cursor') ?? '')?.[1] ?? Infinity)
  const kept = webhooks.deliveries.filter(({ status, id }) => status !== 'pending' && id < below)
  const newestFirst = kept.toSorted((one, other) => other.id - one.id)
  const page = newestFirst.slice(0, perPage)
  const next = `${world.origin}/app/hook/deliveries?per_page=${perPage}&cursor=v1_${page.at(-1)?.id}`
  const example = entryExample('GET /app/hook/deliveries')
  return {
    status: 200,
    body: page.map((delivery) => like(example, deliveryFields(delivery))),
    ...(newestFirst.length > perPage && { headers: { link: `<${next}>; rel="next"` } }),
  }
}

function deliveryFields(delivery: Delivery) {
  const { id, guid, event, action, status, statusCode, redelivery, deliveredAt, installationId, repositoryId } =
    delivery
  const what = { id, guid, event, action, status, redelivery, status_code: statusCode }
  const of = { installation_id: installationId, repository_id: repositoryId }
  return { ...what, ...of, delivered_at: deliveredAt.toISOString() }
}
