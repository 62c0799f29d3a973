import { z } from 'zod'

const call = { name: z.string(), args: z.array(z.unknown()) }

/**
 * One call of an external by a script, with its result, as plain JSON. With all entries of a script run, in order, the
 * script can be run again up to the same point, in another process or on another day, without repeating any effect.
 */
export const JournalEntry = z.union([
  z.strictObject({ ...call, error: z.strictObject({ type: z.string(), message: z.string() }) }),
  z.strictObject({ ...call, answer: z.unknown() }),
])
export type JournalEntry = z.infer<typeof JournalEntry>
