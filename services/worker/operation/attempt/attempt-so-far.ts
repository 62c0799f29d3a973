import type { AttemptRecord } from '#objects/attempt-record.ts'
import type { RunningAttempt } from './running-attempt.ts'

/** What an attempt's record has of it however it ends, or stops to ask. */
export function attemptSoFar(
  { attempt, transcript, workspace, startedAt }: RunningAttempt,
  versions: Readonly<Record<string, string>>,
): Omit<AttemptRecord, 'changeSet' | 'outcome'> {
  return {
    v: 1,
    runId: attempt.runId,
    operationId: attempt.operationId,
    attempt: attempt.attempt,
    bundle: attempt.bundle,
    bundleHash: attempt.bundleHash,
    model: transcript.model,
    versions: { ...versions },
    startedAt,
    messages: [...transcript.messages],
    replies: [...transcript.replies],
    exchanges: [...transcript.exchanges],
    tools: [...transcript.toolRuns],
    reads: workspace.reads(),
  }
}
