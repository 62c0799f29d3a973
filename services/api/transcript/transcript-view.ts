import type { Operation } from '#domain/operation.ts'
import { changeSetsOf } from '#objects/attempt-record.ts'
import { isoTime } from '../runs/iso-time.ts'
import { operationView } from '../runs/operation-view.ts'
import type { StoredTranscript } from './stored-transcript.ts'
import { questionEntry, transcriptEntries } from './transcript-entries.ts'
import type { TranscriptView } from './transcript-schema.ts'

/** What an operation's record says of its conversation, with how the operation stands. */
export function transcriptView(
  operation: Operation,
  stored: StoredTranscript,
  shown: { fullPrompts: boolean },
): TranscriptView {
  const { hash, record } = stored
  const { node, status, outcome } = operationView(operation)
  const entries = [...transcriptEntries(record, shown)]
  return {
    run_id: record.runId,
    operation_id: record.operationId,
    agent: record.bundle,
    bundle_hash: record.bundleHash,
    node,
    status,
    attempt: record.attempt,
    record_hash: hash,
    model: record.model,
    versions: record.versions,
    started_at: isoTime(Math.min(record.startedAt, ...record.exchanges.slice(0, 1).map(({ startedAt }) => startedAt))),
    entries: stored.kind === 'asked' ? [...entries, questionEntry(stored.record)] : entries,
    evidence: stored.kind === 'ended' ? changeSetsOf(stored.record).flatMap(({ evidence }) => evidence) : [],
    outcome,
  }
}
