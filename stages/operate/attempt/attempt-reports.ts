import { operationId, recordIds } from '#domain/ids.ts'
import type { Report } from '#domain/reports.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getReports, putArtifact } from '#store/objects/stored-records.ts'
import type { ReportDeps } from '../tools/externals/report-externals.ts'
import type { RunningAttempt } from './running-attempt.ts'

export type AttemptReportDeps = { ledger: Pick<Ledger, 'endedOperations' | 'getRun'>; objects: ObjectStore }

/** Returns what the reports of an attempt are checked against, and where they go before it ends. */
export function attemptReports(
  { attempt, transcript, journal }: Pick<RunningAttempt, 'attempt' | 'transcript' | 'journal'>,
  deps: AttemptReportDeps,
): ReportDeps {
  const isCall = (id: string) => transcript.toolRuns.some(({ callId }) => callId === id)
  const isEvent = async (seq: number) => seq >= 1 && seq <= (await deps.ledger.getRun(attempt.runId)).seq
  return {
    operationId: attempt.operationId,
    turn: () => transcript.turns,
    exists: (reference) => ('call' in reference ? isCall(reference.call) : isEvent(reference.event)),
    reportedBefore: () => reportedBefore(attempt, deps),
    storeArtifact: (content) => putArtifact(deps.objects, attempt, content),
    emit: (event) => journal.emit(event),
  }
}

/** Reads the reports of the last record of this agent on this node, without those whose work was done once more, also by this one. */
async function reportedBefore(
  { runId, projectId, generation, node, bundle, repeats }: Attempt,
  { ledger, objects }: AttemptReportDeps,
): Promise<readonly Report[]> {
  if (generation === 1) return []
  const ended = await ledger.endedOperations(runId, recordIds(operationId(node.nodeId, bundle), generation - 1))
  const done = new Set([repeats, ...ended.map((one) => one.repeats)].map((one) => one?.supersedes))
  const last = ended.findLast((one) => !done.has(one.operationId))
  const { recordHash } = last?.outcome ?? {}
  return recordHash === undefined ? [] : getReports(objects, projectId, recordHash)
}
