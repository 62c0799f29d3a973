import { ZodError } from 'zod'
import { AppError } from '#domain/error.ts'

export type Failure = {
  /** For a person, one line, or a stack trace for what is a bug. */
  text: string
  /** For a program, as `--json` prints it. */
  document: { error: { error_code: string | null; message: string; phase?: string } }
}

/**
 * What failed, told so that the operator can act on it. Anything but an AppError is a bug and shows where it happened.
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, message, phase } = error
    const document = { error: { error_code: code, message, ...(phase === undefined ? {} : { phase }) } }
    return { text: `remora: ${code} ${message}\n`, document }
  }
  const message = error instanceof Error ? error.message : String(error)
  const where = error instanceof ZodError ? 'the service answered in an unknown form' : 'unexpected error'
  const trace = error instanceof Error ? (error.stack ?? message) : message
  return { text: `remora: ${where}: ${trace}\n`, document: { error: { error_code: null, message } } }
}
