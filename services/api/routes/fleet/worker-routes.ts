import { OpenAPIHono } from '@hono/zod-openapi'
import type { WorkerReport } from '#store/ledger/live-workers.ts'
import type { Producer } from '#store/queues/producer.ts'
import { queueNames } from '#store/queues/catalog.ts'
import { QueuePage, WorkerPage, type WorkerView } from '#schemas/worker-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { isoTime } from '../../http/schema-parts.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

export const workerEndpoints = {
  list: endpoint('operator', [], {
    method: 'get',
    path: '/v1/workers',
    operationId: 'listWorkers',
    summary: 'The workers that live, by id',
    description:
      'Only for the token that the service was started with. A worker that fell silent is listed for 15 seconds.',
    responses: { 200: jsonAnswer('all of them', WorkerPage) },
  }),
  queues: endpoint('operator', [], {
    method: 'get',
    path: '/v1/queues',
    operationId: 'listQueues',
    summary: 'How many jobs each queue has',
    description: 'Only for the token that the service was started with.',
    responses: { 200: jsonAnswer('all queues', QueuePage) },
  }),
} as const

export type WorkerRouteDeps = {
  readWorkers(): Promise<ReadonlyMap<string, WorkerReport>>
  producer: Pick<Producer, 'countJobs'>
}

export function workerRoutes({ readWorkers, producer }: WorkerRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(workerEndpoints.list, async (c) => c.json({ workers: workerViews(await readWorkers()) }, 200))
  routes.openapi(workerEndpoints.queues, async (c) => {
    const counted = queueNames.map(async (queue) => ({ queue, ...(await producer.countJobs(queue)) }))
    return c.json({ queues: await Promise.all(counted) }, 200)
  })
  return routes
}

function workerViews(reports: ReadonlyMap<string, WorkerReport>): WorkerView[] {
  return [...reports]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([id, report]) => {
      const { version, startedAt, operations, models, pool, store } = report
      return {
        worker_id: id,
        version,
        started_at: isoTime(startedAt),
        slots: operations,
        object_store: store === undefined ? null : `${store.state}: ${store.message}`,
        requests_waiting: pool?.waiting ?? 0,
        models: models.map(({ model, isWorking, awaySince }) => {
          return { model, is_working: isWorking, away_since: awaySince === null ? null : isoTime(awaySince) }
        }),
        servers: (pool?.servers ?? []).map(({ url, limit, most, inFlight, breaker }) => {
          return { url, limit, in_flight: inFlight, max_in_flight: most, breaker }
        }),
      }
    })
}
