import { z } from 'zod'

/** `tokens:admin` can create a token of any scope, and so do everything. Otherwise no scope implies another. */
export const Scope = z.enum(['runs:read', 'runs:write', 'tokens:admin'])
export type Scope = z.infer<typeof Scope>

export const allScopes: readonly Scope[] = Scope.options

/** The default scopes of a token: enough for `remora submit`, `watch` and `diff`. */
export const usualScopes: readonly Scope[] = ['runs:read', 'runs:write']
