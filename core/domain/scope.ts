import { z } from 'zod'

/**
 * What a token may do. `tokens:admin` can make a token of any scope, so it amounts to all of them. No scope implies
 * another.
 */
export const Scope = z.enum(['runs:read', 'runs:write', 'tokens:admin'])
export type Scope = z.infer<typeof Scope>

export const allScopes: readonly Scope[] = Scope.options

/** What a token gets when nobody says: enough for `remora submit`, `watch` and `diff`. */
export const usualScopes: readonly Scope[] = ['runs:read', 'runs:write']
