import { z } from 'zod'

const call = { name: z.string(), args: z.array(z.unknown()) }

/**
 * One call of a script to the host and what became of it, as plain JSON. All of a run's, in order, let the script be run
 * again to where it was, in another process or on another day, without the host doing anything twice.
 */
export const JournalEntry = z.union([
  z.strictObject({ ...call, error: z.strictObject({ type: z.string(), message: z.string() }) }),
  z.strictObject({ ...call, answer: z.unknown() }),
])
export type JournalEntry = z.infer<typeof JournalEntry>
