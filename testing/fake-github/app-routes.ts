import { z } from 'zod'
import { appJson, installationJson, repositoryJson } from './account-json.ts'
import { type Answer, answer, found, refuse } from './answers.ts'
import { issueToken } from './authenticate.ts'
import { convertManifest } from './manifest-flow.ts'
import { type Call, type Route, appRoute, bodyOf } from './routes.ts'
import type { Delivery } from './webhooks.ts'
import { covers, findRepository, installationOf } from './world.ts'

/** What the app asks with its own key, for itself. */
export const appRoutes: Route[] = [
  appRoute('GET /app', ({ world }) =>
    answer(200, { ...appJson(world), installations_count: world.installations.size }),
  ),
  appRoute('GET /app/installations', ({ world }) => ({
    items: [...world.installations.values()].map((one) => installationJson(world, one)),
  })),
  appRoute('GET /app/installations/{installation_id}', (call) =>
    answer(200, installationJson(call.world, installationIn(call))),
  ),
  appRoute('POST /app/installations/{installation_id}/access_tokens', createToken),
  appRoute('GET /repos/{owner}/{repo}/installation', readInstallation),
  appRoute('GET /app/hook/config', (call) => answer(200, hookConfigJson(call))),
  appRoute('PATCH /app/hook/config', (call) => {
    const { url, secret } = bodyOf(HookConfig, call.body)
    if (url !== undefined) call.webhooks.sendTo(url)
    if (secret !== undefined) call.world.app.webhookSecret = secret
    return answer(200, hookConfigJson(call))
  }),
  appRoute('GET /app/hook/deliveries', listDeliveries),
  appRoute('GET /app/hook/deliveries/{delivery_id}', (call) => answer(200, fullDeliveryJson(deliveryIn(call)))),
  appRoute('POST /app/hook/deliveries/{delivery_id}/attempts', (call) => {
    call.webhooks.redeliver(deliveryIn(call))
    return answer(202, {})
  }),
  { operation: 'GET /installation/repositories', for: 'anybody', handle: listRepositories },
  { operation: 'DELETE /installation/token', for: 'anybody', handle: revokeToken },
  { operation: 'POST /app-manifests/{code}/conversions', for: 'anybody', handle: convertManifest },
]

function installationIn({ world, parameters }: Call) {
  return found(world.installations.get(Number(parameters['installation_id'])))
}

const Level = z.enum(['read', 'write', 'admin'])
const WantedToken = z.object({
  repositories: z.array(z.string()).max(500).optional(),
  repository_ids: z.array(z.number()).max(500).optional(),
  permissions: z.record(z.string(), Level).optional(),
})

function createToken(call: Call): Answer {
  const { world } = call
  const { repositories, repository_ids: ids, permissions } = bodyOf(WantedToken, call.body)
  const token = issueToken(world, installationIn(call), {
    ...(repositories === undefined ? {} : { repositories }),
    ...(ids === undefined ? {} : { repository_ids: ids }),
    ...(permissions === undefined ? {} : { permissions }),
  })
  const named = [...(token.repositories ?? [])].flatMap((id) => {
    const repository = world.repositories.get(id)
    return repository === undefined ? [] : [repositoryJson(world, repository)]
  })
  return answer(201, {
    token: token.token,
    expires_at: token.expiresAt.toISOString().replace('.000', ''),
    permissions: token.permissions,
    repository_selection: token.repositories === undefined ? token.installation.selection : 'selected',
    ...(token.repositories === undefined ? {} : { repositories: named }),
  })
}

function readInstallation({ world, parameters }: Call): Answer {
  const repository = found(findRepository(world, parameters['owner'] ?? '', parameters['repo'] ?? ''))
  return answer(200, installationJson(world, found(installationOf(world, repository))))
}

function listRepositories({ world, viewer }: Call) {
  if (viewer.kind !== 'installation') return refuse(403, 'You must authenticate with an installation access token')
  const { installation, repositories } = viewer.token
  const items = [...world.repositories.values()]
    .filter((one) => covers(installation, one) && (repositories?.has(one.id) ?? true))
    .map((one) => repositoryJson(world, one))
  const wrap = (page: unknown[]) => ({
    total_count: items.length,
    repository_selection: installation.selection,
    repositories: page,
  })
  return { items, wrap }
}

function revokeToken({ world, viewer }: Call): Answer {
  if (viewer.kind !== 'installation') return refuse(403, 'You must authenticate with an installation access token')
  world.tokens.delete(viewer.token.token)
  return answer(204)
}

const HookConfig = z.object({ url: z.url().optional(), secret: z.string().optional() })

function hookConfigJson({ world, webhooks }: Call) {
  return { ...webhooks.config, url: webhooks.url() ?? `${world.origin}/nowhere` }
}

const keptMs = 3 * 24 * 3_600_000

/** Newest first, those of the last three days. The next page begins below the id that the cursor names. */
function listDeliveries({ world, webhooks, query }: Call): Answer {
  const since = world.now().getTime() - keptMs
  const perPage = Math.min(Number(query.get('per_page') ?? 30), 100)
  const cursor = query.get('cursor')
  const below = cursor === null ? Infinity : Number(/^v1_(\d+)$/.exec(cursor)?.[1] ?? Number.NaN)
  if (Number.isNaN(below)) return refuse(422, 'The cursor is invalid')
  const status = query.get('status')
  const kept = webhooks.deliveries.filter(
    (one) =>
      one.status !== 'pending' &&
      one.deliveredAt.getTime() >= since &&
      one.id < below &&
      (status === null || (status === 'success') === (one.statusCode >= 200 && one.statusCode < 400)),
  )
  const newestFirst = kept.toSorted((one, other) => other.id - one.id)
  const page = newestFirst.slice(0, perPage)
  const next = new URL('/app/hook/deliveries', world.origin)
  for (const [name, value] of [...query, ['cursor', `v1_${page.at(-1)?.id}`]] as const)
    next.searchParams.set(name, value)
  const more = newestFirst.length > perPage
  return {
    status: 200,
    body: page.map(deliveryJson),
    ...(more ? { headers: { link: `<${next.href}>; rel="next"` } } : {}),
  }
}

function deliveryIn({ webhooks, parameters }: Call): Delivery {
  return found(webhooks.deliveries.find(({ id }) => id === Number(parameters['delivery_id'])))
}

function deliveryJson(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt.toISOString(),
    redelivery: delivery.redelivery,
    duration: Math.round(delivery.durationMs) / 1_000,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  }
}

function fullDeliveryJson(delivery: Delivery) {
  return {
    ...deliveryJson(delivery),
    url: '',
    request: { headers: delivery.requestHeaders, payload: delivery.payload },
    response: { headers: {}, payload: delivery.responseText },
  }
}
