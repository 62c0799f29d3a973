import type { Hook } from '@hono/zod-openapi'
import { AppError, type ErrorCode } from '#domain/error.ts'
import type { ApiEnv } from './api-env.ts'

const unknownThing: Readonly<Record<string, { code: ErrorCode; name: string }>> = {
  run_id: { code: 'RUN_001', name: 'run' },
  operation_id: { code: 'RUN_004', name: 'operation' },
  node_id: { code: 'RUN_004', name: 'node' },
  request_id: { code: 'ASK_001', name: 'question' },
  token_id: { code: 'AUTH_003', name: 'token' },
}

/**
 * What the schema of an endpoint does not take, in our words: an id in the address that cannot be one is unknown
 * (RUN_001, RUN_004, ASK_001, AUTH_003), a query parameter or Last-Event-ID is RUN_002, another header or the body INTAKE_008.
 * Every field at fault is named.
 */
export const refuseInput: Hook<unknown, ApiEnv, string, void> = (result, context) => {
  if (result.success) return
  const { issues } = result.error
  if (result.target === 'param') {
    const at = String(issues[0]?.path[0])
    const { code, name } = unknownThing[at] ?? { code: 'HTTP_001' as const, name: at }
    throw new AppError(code, `There is no ${name} "${(context.req.param(at) ?? '').slice(0, 64)}".`)
  }
  const root = result.target === 'json' ? ['body'] : []
  const faults = issues.map((issue) => `${[...root, ...issue.path].join('.') || 'query'}: ${issue.message}`)
  const isFilter = result.target === 'query' || issues.some((issue) => issue.path[0] === 'last-event-id')
  throw new AppError(isFilter ? 'RUN_002' : 'INTAKE_008', faults.join('; ').slice(0, 2_000))
}
