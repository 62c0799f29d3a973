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
    max_in_flight: z.int().meta({ description: 'requests at once of all workers together' }),
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
