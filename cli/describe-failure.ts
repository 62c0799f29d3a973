import type { CommanderError } from 'commander'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { visible } from './terminal-text.ts'

export type Failure = {
  /** One line for a person, or a stack trace for a bug. */
  text: string
  document: { error: { error_code: string | null; message: string; phase?: string; advice?: string } }
}

/** Advice on errors that are thrown where the code does not know that it was called from a command line. */
const advices: Partial<Record<ErrorCode, string>> = {
  RUN_001: '"remora runs" lists the runs',
  RUN_004: '"remora show RUN --operations" lists the operations',
  RUN_006: '"remora watch RUN" follows it to its end',
  RUN_011: '"remora show RUN --plan" shows the plan as it is now',
  RUN_012: 'such runs are begun with --objective',
  HOST_002: '"remora github installations" lists where the GitHub App is installed',
  AUTH_001: 'set REMORA_TOKEN to a token of that service ("remora up" prints one)',
}

/** Is true when the command was called wrongly, for example with an unknown agent or a missing path. The exit code is then 2. */
export function isWrongUsage(error: unknown): boolean {
  return error instanceof AppError && (error.phase === 'usage' || error.code === 'INTAKE_006')
}

/** Says what the operator can do about an error, unless its message says that. */
export function adviceOn({ code, advised }: AppError): string | undefined {
  return advised ? undefined : advices[code]
}

/** Shows the error without logins and control characters. Anything but an AppError is a bug and has its stack trace. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, phase } = error
    const message = withoutLogins(error.message)
    const advice = adviceOn(error)
    const document = { error: { error_code: code, message, ...(phase && { phase }), ...(advice && { advice }) } }
    const full = advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`
    return { text: `remora: ${code} ${visible(full)}\n`, document }
  }
  const message = withoutLogins(error instanceof Error ? error.message : String(error))
  const trace = error instanceof Error ? withoutLogins(error.stack ?? message) : message
  return { text: `remora: unexpected error: ${visible(trace)}\n`, document: { error: { error_code: null, message } } }
}

/** Returns wrong usage as `--json` prints it; commander prints the text for a person. It has no error code. */
export function usageDocument({ message }: Pick<CommanderError, 'message'>): Failure['document'] {
  return { error: { error_code: null, message: message.replace(/^error: /, '').replaceAll('\n', ' ') } }
}
