import { z } from 'zod'
import { RunAnswer } from './agenda.ts'
import { AskId } from './id-schemas.ts'

export const maxAskCharacters = 2_000

const noted = { seq: z.int().min(1), at: z.number() }

/** Is what somebody asks about a run, and how that ended: with the answer of a model, or why there is none. `seq`: the numbers of their events. */
export const Ask = z.strictObject({
  askId: AskId,
  text: z.string(),
  by: z.string(),
  ...noted,
  end: z
    .strictObject({
      ...noted,
      answer: RunAnswer.optional(),
      model: z.string().optional(),
      error_code: z.string().optional(),
      reason: z.string().optional(),
    })
    .nullable(),
})
export type Ask = z.infer<typeof Ask>
