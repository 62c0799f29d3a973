import { z } from 'zod'
import { Time } from './wire-parts.ts'

const WorkerModel = z
  .strictObject({
    model: z
      .string()
      .meta({ description: 'as bundles ask for it; `default` is the one that the worker is set up with' }),
    is_working: z.boolean().nullable().meta({ description: 'null before its servers were judged' }),
    away_since: Time.nullable(),
  })
  .meta({ id: 'WorkerModel' })

const WorkerServer = z
  .strictObject({
    url: z.string().meta({ description: 'without login and query' }),
    limit: z.int().meta({ description: 'requests that this worker may have there at once, for now; 0: it sends none' }),
    in_flight: z.int().meta({ description: 'requests that this worker has there' }),
    max_in_flight: z.int().meta({ description: 'requests at once of all workers together' }),
    breaker: z.string().meta({ description: '`open` after failures in a row: for a while nothing is sent there' }),
  })
  .meta({ id: 'WorkerServer' })

export const WorkerView = z
  .strictObject({
    worker_id: z.string(),
    version: z.string(),
    started_at: Time,
    slots: z.int().meta({ description: 'operations that it takes at once; 0: it takes none now' }),
    requests_waiting: z.int().meta({ description: 'requests to models that wait for room at a server' }),
    object_store: z.string().nullable().meta({ description: 'what is wrong with it for this worker; null: nothing' }),
    models: z.array(WorkerModel),
    servers: z.array(WorkerServer),
  })
  .meta({ id: 'Worker' })
export type WorkerView = z.infer<typeof WorkerView>

export const WorkerPage = z.strictObject({ workers: z.array(WorkerView) }).meta({ id: 'WorkerPage' })

const QueueView = z
  .strictObject({
    queue: z.string(),
    waiting: z.int().meta({ description: 'jobs that wait for somebody who takes them' }),
    active: z.int(),
    delayed: z.int().meta({ description: 'jobs that were put off' }),
  })
  .meta({ id: 'Queue' })

export const QueuePage = z.strictObject({ queues: z.array(QueueView) }).meta({ id: 'QueuePage' })
