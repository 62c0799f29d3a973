import { z } from 'zod'

const call = { name: z.string(), args: z.array(z.unknown()) }

/** Is a call of an external by a script. With all of them, in order, a script runs again to the same point without repeating an effect. */
export const JournalEntry = z.union([
  z.strictObject({ ...call, error: z.strictObject({ type: z.string(), message: z.string() }) }),
  z.strictObject({ ...call, answer: z.unknown() }),
])
export type JournalEntry = z.infer<typeof JournalEntry>
