import { z } from 'zod'
import { ScopeShape } from './token-schema.ts'

export const SessionView = z
  .strictObject({
    project_id: z.string(),
    token_id: z.string().meta({ description: 'names the token, in logs and decisions' }),
    token_name: z.string().nullable(),
    scopes: z.array(ScopeShape),
    version: z.string().meta({ description: 'of the service' }),
  })
  .meta({ id: 'Session', description: 'whose token this is' })
export type SessionView = z.infer<typeof SessionView>
