import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'

export type SubmissionAnswer =
  | { kind: 'valid'; submission: Submission }
  | { kind: 'refused'; code: ErrorCode; reason: string }

const WireSubmission = z.object({
  status: z.enum(['success', 'failed', 'skipped']),
  summary: z.string().min(1).max(4000),
  changed_files: z.array(z.string()).max(1000).nullish(),
  details: z.record(z.string(), z.unknown()).nullish(),
  error: z.string().max(4000).nullish(),
})

/** The submission in a `submit_result` call, or what is wrong with it, in words the model can act on. */
export function submissionOf(call: RequestedCall): SubmissionAnswer {
  const given = jsonOf(call.arguments)
  if (given === undefined) {
    return { kind: 'refused', code: 'AGENT_009', reason: 'the arguments are not valid JSON' }
  }
  const parsed = WireSubmission.safeParse(given)
  if (!parsed.success) return { kind: 'refused', code: 'AGENT_005', reason: faultsOf(parsed.error, given) }
  const { status, summary, changed_files: changedFiles, details, error } = parsed.data
  const submission = { status, summary, changedFiles: changedFiles ?? [], details: details ?? {} }
  return { kind: 'valid', submission: typeof error === 'string' ? { ...submission, error } : submission }
}

function faultsOf(error: z.ZodError, given: unknown): string {
  return error.issues
    .map((issue) => {
      const value = issue.path.reduce<unknown>((part, key) => (isRecord(part) ? part[String(key)] : undefined), given)
      const shown = value === undefined ? 'missing' : `got ${JSON.stringify(value)?.slice(0, 100)}`
      return `${issue.path.join('.') || 'arguments'}: ${issue.message} (${shown})`
    })
    .join('; ')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Parsed JSON, or undefined: what the model sends is never trusted to be JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
