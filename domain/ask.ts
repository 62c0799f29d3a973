import { z } from 'zod'
import { RunAnswer } from './agenda.ts'
import { AskId } from './id-schemas.ts'

export const maxAskCharacters = 2_000

const noted = { seq: z.int().min(1), at: z.number() }

export const AskEnd = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('answered'), answer: RunAnswer, model: z.string(), ...noted }),
  z.strictObject({ kind: z.literal('failed'), code: z.string(), reason: z.string(), ...noted }),
])
export type AskEnd = z.infer<typeof AskEnd>

/** Is what somebody asks about a run, and how that ended. `seq`: the number of its event. */
export const Ask = z.strictObject({
  askId: AskId,
  text: z.string(),
  by: z.string(),
  ...noted,
  end: AskEnd.nullable(),
})
export type Ask = z.infer<typeof Ask>
