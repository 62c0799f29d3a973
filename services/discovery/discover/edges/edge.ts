import { z } from 'zod'
import { NodeId } from '#domain/ids.ts'

/**
 * That one node needs another. `exact`: by the language's own rules, as far as they can be followed without running it.
 * `by_name`: nothing else in the repository goes by that name.
 */
export const Edge = z.strictObject({
  from: NodeId,
  to: NodeId,
  kind: z.enum(['imports', 'calls', 'inherits', 'tests']),
  certainty: z.enum(['exact', 'by_name']),
})
export type Edge = z.infer<typeof Edge>
