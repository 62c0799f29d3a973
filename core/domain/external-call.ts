import { z } from 'zod'

/**
 * One call of a tool script to the host and what came back, as plain JSON: an answer, or the Python exception that was
 * raised in the script. In order, they are all that a script learned from outside: run again over them, it does the same.
 */
export const ExternalCall = z.union([
  z.strictObject({ name: z.string(), args: z.array(z.unknown()), answer: z.unknown() }),
  z.strictObject({
    name: z.string(),
    args: z.array(z.unknown()),
    error: z.strictObject({ type: z.string(), message: z.string() }),
  }),
])
export type ExternalCall = z.infer<typeof ExternalCall>
