import { type CodeFinding, placeOf, reportedFindings, wireFinding } from '#domain/code-finding.ts'
import type { RunningAttempt } from '../attempt/running-attempt.ts'

/**
 * Emits what the attempt has found, as it ends: so the findings of an attempt that another one replaces are no events. Returns them as
 * the results stream has them, and their number for the outcome.
 */
export function reportFindings({ transcript, journal }: Pick<RunningAttempt, 'transcript' | 'journal'>) {
  const found = reportedFindings(transcript.toolRuns.flatMap(({ externals }) => externals)).map(eventData)
  for (const data of found) journal.emit({ event: 'finding.reported', phase: 'submission', data })
  return found.length === 0 ? { wire: found } : { wire: found, findings: found.length }
}

function eventData(finding: CodeFinding): Record<string, unknown> {
  const { line_text: _, ...shown } = wireFinding(finding)
  return { ...shown, evidence_refs: [placeOf(finding)] }
}
