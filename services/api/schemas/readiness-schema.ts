import { z } from 'zod'

export const Liveness = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness' })
const PartCondition = z.enum(['ok', 'away', 'full', 'unsafe', 'unknown']).meta({
  id: 'PartCondition',
  description:
    '`full`: the part answers, and takes nothing more. `unsafe`: it may lose what it was given. `unknown`: what tells about the part cannot be read now.',
})
const PartState = z
  .strictObject({ state: PartCondition, message: z.string().meta({ description: 'for people' }) })
  .meta({ id: 'PartState' })
export const ReadinessParts = z.record(z.string(), PartState).meta({
  id: 'ReadinessParts',
  description:
    'By name: `redis`, `object_store`, and `models`, which is away while runs wait for a model, unknown while Redis is away, and does not make the service unready. There may be more later.',
})
export const Readiness = z.strictObject({ status: z.literal('ready'), parts: ReadinessParts }).meta({ id: 'Readiness' })
export const NotReady = z
  .strictObject({ status: z.literal('not ready'), parts: ReadinessParts })
  .meta({ id: 'NotReady' })
