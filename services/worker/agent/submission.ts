import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import { clippedJson } from '#domain/clipped-json.ts'
import { isDeeperThan, isRecord, parseJson } from '#domain/json.ts'
import type { RequestedCall, Submission } from '#domain/turn.ts'

export type ReadSubmission =
  | {
      kind: 'valid'
      submission: Submission
      /** The status as it was given, when it was taken for another. */
      statusGiven?: string
    }
  | { kind: 'refused'; code: ErrorCode; reason: string }

/** How deep `details` may be: what is stored and sent on has to be written by programs that recurse. */
const maxDepth = 32

const WireSubmission = z.object({
  status: z.enum(['success', 'failed', 'skipped']),
  summary: z.string().min(1).max(4000),
  changed_files: z.array(z.string()).max(1000).nullish(),
  details: z
    .record(z.string(), z.unknown())
    .refine((details) => !isDeeperThan(details, maxDepth), `nested deeper than ${maxDepth} levels`)
    .nullish(),
  error: z.string().max(4000).nullish(),
})

/** What models say for a status. Anything else that is none is refused. */
const statusWords: Readonly<Record<Submission['status'], readonly string[]>> = {
  success: ['done', 'ok', 'completed', 'complete', 'finished', 'added', 'fixed', 'updated', 'changed'],
  skipped: ['skip', 'unchanged', 'nothing_to_do', 'no_change', 'not_needed'],
  failed: ['failure', 'error', 'fail'],
}

const statusOf = new Map(
  Object.entries(statusWords).flatMap(([status, words]) => [status, ...words].map((word) => [word, status] as const)),
)

/** The submission in a `submit_result` call, or what is wrong with it, in words the model can act on. */
export function submissionOf(call: RequestedCall): ReadSubmission {
  const given = parseJson(call.arguments)
  if (given === undefined) {
    return { kind: 'refused', code: 'AGENT_009', reason: 'the arguments are not valid JSON' }
  }
  const statusGiven = isRecord(given) && typeof given['status'] === 'string' ? given['status'] : undefined
  const meant = statusOf.get(statusGiven?.trim().toLowerCase() ?? '')
  const parsed = WireSubmission.safeParse(isRecord(given) && meant !== undefined ? { ...given, status: meant } : given)
  if (!parsed.success) return { kind: 'refused', code: 'AGENT_005', reason: faultsOf(parsed.error, given) }
  const { status, summary, changed_files: changedFiles, details, error } = parsed.data
  const submission = { status, summary, changedFiles: changedFiles ?? [], details: details ?? {} }
  return {
    kind: 'valid',
    submission: typeof error === 'string' ? { ...submission, error } : submission,
    ...(statusGiven === undefined || statusGiven === status
      ? {}
      : { statusGiven: statusGiven.slice(0, shownCharacters) }),
  }
}

const shownCharacters = 100
const shownFaults = 5

function faultsOf({ issues }: z.ZodError, given: unknown): string {
  const told = issues.slice(0, shownFaults).map((issue) => {
    const value = issue.path.reduce<unknown>(partOf, given)
    const shown = value === undefined ? 'missing' : `got ${clippedJson(value, shownCharacters)}`
    return `${issue.path.join('.') || 'arguments'}: ${issue.message} (${shown})`
  })
  const more = issues.length > shownFaults ? [`${issues.length - shownFaults} more`] : []
  return [...told, ...more].join('; ')
}

function partOf(whole: unknown, key: PropertyKey): unknown {
  if (Array.isArray(whole)) return whole[Number(key)]
  return isRecord(whole) ? whole[String(key)] : undefined
}
