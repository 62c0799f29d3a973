import { z } from 'zod'
import { AskId, RunId } from '#domain/id-schemas.ts'
import { AnswerView } from './agenda-schema.ts'
import { orNull, Time } from './wire-parts.ts'

export const AskBody = z.strictObject({ text: z.string().trim().min(1).max(2_000) }).meta({ id: 'AskRequest' })

export const AskReceived = z.strictObject({ run_id: RunId, ask_id: AskId }).meta({ id: 'AskReceived' })

export const AskView = z
  .strictObject({
    ask_id: AskId,
    status: z.enum(['open', 'taken', 'answered', 'failed']).meta({
      id: 'AskStatus',
      description: '`taken`: a conductor answers what is asked about the run; `open`: none has taken it yet',
    }),
    text: z.string(),
    asked_at: Time,
    asked_by: z.string(),
    answer: orNull(AnswerView),
    model: z.string().nullable().meta({ description: 'which has answered' }),
    error_code: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'why it was not answered' }),
    ended_at: Time.nullable(),
  })
  .meta({ id: 'Ask', description: 'what somebody asks about a run, and the answer' })
export type AskView = z.infer<typeof AskView>
