import { z } from 'zod'

/**
 * Which Python a bundle's tool scripts may use: `default` is the small language of the rules, `monty` all that the
 * sandbox runs.
 */
export const ScriptProfile = z.enum(['default', 'monty'])
export type ScriptProfile = z.infer<typeof ScriptProfile>
