import { type CodeFinding, placeOf, reportedFindings, wireFinding } from '#domain/code-finding.ts'
import type { AgentEvent } from '../agent/journal.ts'
import type { RunningAttempt } from '../attempt/running-attempt.ts'

/** Returns what the attempt has found, as the results stream has it, and as events. */
export function findingsOf({ transcript }: Pick<RunningAttempt, 'transcript'>) {
  const wire = reportedFindings(transcript.toolRuns.flatMap(({ externals }) => externals)).map(eventData)
  const events = wire.map((data): AgentEvent => ({ event: 'finding.reported', phase: 'submission', data }))
  return { wire, events }
}

function eventData(finding: CodeFinding): Record<string, unknown> {
  const { line_text: _, ...shown } = wireFinding(finding)
  return { ...shown, evidence_refs: [placeOf(finding)] }
}
