import { z } from 'zod'

/**
 * What one file says of others, and of the names in it; found without knowing any other file. An `import` without a
 * module is the file's own name under another (`alias`); name `''` means the module itself and `'*'` all it has. A
 * `local` is a name that is bound in the node `from`; its name `'()'` is what calling the node gives.
 */
export const Reference = z.strictObject({
  kind: z.enum(['import', 'call', 'inherits', 'local']),
  /** Index of the innermost enclosing node in the blob's node index. */
  from: z.int().min(0),
  name: z.string(),
  module: z.string().optional(),
  alias: z.string().optional(),
  /** What a method is called on, as a path: `self.items`, `make().items`; `?` is anything else. */
  receiver: z.string().optional(),
  /** The type a name is declared with, and the expression it is given, as paths. */
  type: z.string().optional(),
  value: z.string().optional(),
})
export type Reference = z.infer<typeof Reference>
