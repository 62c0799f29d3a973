import { AppError } from '#domain/error.ts'
import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { AttemptRecord } from '#objects/attempt-record.ts'
import type { SuspendedAttempt } from '#objects/suspended-attempt.ts'

/** Of an attempt that ended, or of one that stopped to ask a person and had no other after it. */
export type StoredTranscript =
  | { kind: 'ended'; hash: string; record: AttemptRecord }
  | { kind: 'asked'; hash: string; record: SuspendedAttempt }

/** Each STORE_003 when the record is missing, or not what its hash says. */
export type TranscriptRecords = {
  readAttempt(projectId: string, recordHash: string): Promise<AttemptRecord>
  readSuspended(projectId: string, recordHash: string): Promise<SuspendedAttempt>
}

/** RUN_006 while there is none yet, RUN_004 where there will never be one. */
export async function storedTranscript(
  operation: Operation,
  projectId: string,
  records: TranscriptRecords,
): Promise<StoredTranscript> {
  const { outcome, suspensionHash } = operation
  const recordHash = outcome?.recordHash
  if (recordHash !== undefined) {
    return { kind: 'ended', hash: recordHash, record: await records.readAttempt(projectId, recordHash) }
  }
  if (suspensionHash === null) throw withoutTranscript(operation)
  return { kind: 'asked', hash: suspensionHash, record: await records.readSuspended(projectId, suspensionHash) }
}

function withoutTranscript({ operationId, runId, status, attempt, outcome }: Operation): AppError {
  const operation = `operation ${operationId} of run ${runId}`
  if (!isEndedOperation(status)) {
    return new AppError(
      'RUN_006',
      `There is no transcript of ${operation} yet: it is ${status}; "remora watch ${runId}" shows when it ends.`,
    )
  }
  const { errorCode, reason, summary = '' } = outcome ?? {}
  const why = [errorCode, reason ?? summary].filter((part) => part !== undefined && part !== '').join(' ')
  const because = why === '' ? '' : ` (${why})`
  if (attempt === 0) {
    return new AppError(
      'RUN_004',
      `There is no transcript of ${operation}: it was ${status} before it began${because}.`,
    )
  }
  return new AppError(
    'RUN_004',
    `There is no transcript of ${operation}: it ${status}${because} and its attempt left no record; the run's events say what is known.`,
  )
}
