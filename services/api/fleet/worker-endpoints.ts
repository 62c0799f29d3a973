import { z } from '@hono/zod-openapi'
import { Time } from '../http/schema-parts.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'

const WorkerModel = z
  .strictObject({
    model: z
      .string()
      .openapi({ description: 'as bundles ask for it; `default` is the one that the worker is set up with' }),
    is_working: z.boolean().nullable().openapi({ description: 'null before its servers were judged' }),
    away_since: Time.nullable(),
  })
  .openapi('WorkerModel')

const WorkerServer = z
  .strictObject({
    url: z.string().openapi({ description: 'without login and query' }),
    limit: z
      .int()
      .openapi({ description: 'requests that this worker may have there at once, for now; 0: it sends none' }),
    max_in_flight: z.int().openapi({ description: 'requests at once of all workers together' }),
  })
  .openapi('WorkerServer')

export const WorkerView = z
  .strictObject({
    worker_id: z.string(),
    version: z.string(),
    started_at: Time,
    slots: z.int().openapi({ description: 'operations that it takes at once; 0: it takes none now' }),
    requests_waiting: z.int().openapi({ description: 'requests to models that wait for room at a server' }),
    object_store: z
      .string()
      .nullable()
      .openapi({ description: 'what is wrong with it for this worker; null: nothing' }),
    models: z.array(WorkerModel),
    servers: z.array(WorkerServer),
  })
  .openapi('Worker')
export type WorkerView = z.infer<typeof WorkerView>

const WorkerPage = z.strictObject({ workers: z.array(WorkerView) }).openapi('WorkerPage')

/** The workers that live, of all projects together. */
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
} as const
