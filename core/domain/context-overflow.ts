import { AppError } from './error.ts'

/** AGENT_007 of a request that is longer than the model's context: with fewer messages it may do. */
export class ContextOverflow extends AppError {
  constructor(message: string, cause: unknown) {
    super('AGENT_007', message, { cause, phase: 'model' })
  }
}

/** Whether this is why a request failed; also as the cause of what a pool says of it. */
export function isContextOverflow(error: unknown): boolean {
  if (error instanceof ContextOverflow) return true
  return error instanceof AppError && error.code === 'AGENT_007' && isContextOverflow(error.cause)
}
