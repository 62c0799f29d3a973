import type { CommanderError } from 'commander'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { withoutLogins } from '#platform/without-login.ts'
import { visible } from './visible.ts'

export type Failure = {
  /** For a person, one line, or a stack trace for what is a bug. */
  text: string
  /** For a program, as `--json` prints it. */
  document: { error: { error_code: string | null; message: string; phase?: string; advice?: string } }
}

/** What to do where the one who throws does not know that a command line called it. */
const advices: Partial<Record<ErrorCode, string>> = {
  RUN_001: '"remora runs" lists those there are',
  RUN_004: '"remora show RUN --operations" lists those there are',
  RUN_006: '"remora watch RUN" follows it to its end',
  AUTH_001: 'set REMORA_TOKEN to a token of that service ("remora up" prints one)',
}

/**
 * Whether the command was called with what cannot be: an unknown agent, also one that only the service does not know, or a path
 * where there is nothing. Its exit code is 2.
 */
export function isWrongUsage(error: unknown): boolean {
  return error instanceof AppError && (error.phase === 'usage' || error.code === 'INTAKE_006')
}

/** What the operator can do about `error` beside what its message says. */
export function adviceOn({ code, message }: AppError): string | undefined {
  const advice = advices[code]
  return advice === undefined || message.includes('remora ') ? undefined : advice
}

/**
 * What failed, told so that the operator can act on it, without logins and without what a terminal would obey.
 * Anything but an AppError is a bug and shows where it happened.
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, phase } = error
    const message = withoutLogins(error.message)
    const advice = adviceOn(error)
    const more = { ...(phase === undefined ? {} : { phase }), ...(advice === undefined ? {} : { advice }) }
    const document = { error: { error_code: code, message, ...more } }
    const told = advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`
    return { text: `remora: ${code} ${visible(told)}\n`, document }
  }
  const message = withoutLogins(error instanceof Error ? error.message : String(error))
  const trace = error instanceof Error ? withoutLogins(error.stack ?? message) : message
  return { text: `remora: unexpected error: ${visible(trace)}\n`, document: { error: { error_code: null, message } } }
}

/** Wrong usage as `--json` prints it; a person has been told by commander. It has no code: nothing was tried. */
export function usageDocument({ message }: Pick<CommanderError, 'message'>): Failure['document'] {
  return { error: { error_code: null, message: message.replace(/^error: /, '').replaceAll('\n', ' ') } }
}
