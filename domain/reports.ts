import { z } from 'zod'
import { Escalation } from './agenda.ts'
import { findingKey, WireFinding } from './code-finding.ts'
import type { JournalEntry } from './external-journal.ts'

export const maxInsightCharacters = 1_000
export const maxArtifactBytes = 256 * 1024

/** Is what an agent has learned that may change what is done next. `confidence`: 0 to 1, as the agent says it. */
export const Learning = z.strictObject({
  insight: z.string().trim().min(1).max(maxInsightCharacters),
  confidence: z.number().min(0).max(1),
})

/** Names a text that an agent has made, which is stored under its hash. */
export const ReportedArtifact = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/),
  media_type: z.string().regex(/^[a-z]{1,20}\/[\w.+-]{1,60}$/),
  bytes: z.int().min(0).max(maxArtifactBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type ReportedArtifact = z.infer<typeof ReportedArtifact>

/** Names what a report rests on and what exists: `PATH:LINE`, `PATH:FIRST-LAST`, `event:N` or `call:ID`. */
export const EvidenceRefs = z.array(z.string().min(1).max(300)).max(8)
const evidence_refs = EvidenceRefs.default([])

/** Is what a script has reported of its operation, besides the result of the tool. */
export const Report = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('finding'), finding: WireFinding, evidence_refs }),
  z.object({ kind: z.literal('learning'), learning: Learning, evidence_refs }),
  z.object({ kind: z.literal('escalation'), escalation: Escalation, evidence_refs }),
  z.object({ kind: z.literal('artifact'), artifact: ReportedArtifact }),
])
export type Report = z.infer<typeof Report>

/** Limits how many of a kind count, of one reply of the model and of one operation. */
export const reportLimits: Readonly<Record<Report['kind'], { turn: number; operation: number }>> = {
  finding: { turn: 2, operation: 20 },
  learning: { turn: 1, operation: 5 },
  escalation: { turn: 1, operation: 5 },
  artifact: { turn: 8, operation: 40 },
}

/** Lists what scripts have reported, from what the externals `report_<kind>` have answered where they took it. */
export function reportsIn(journal: readonly JournalEntry[]): Report[] {
  return journal.flatMap((entry) => {
    const [, kind] = /^report_(\w+)$/.exec(entry.name) ?? []
    const answer = kind !== undefined && 'answer' in entry ? Answer.safeParse(entry.answer).data : undefined
    return Report.safeParse({ ...answer, kind }).data ?? []
  })
}
const Answer = z.record(z.string(), z.unknown())

/** Reports of the same key say the same. */
export function reportKey(report: Report): string {
  switch (report.kind) {
    case 'finding':
      return `finding ${findingKey(report.finding)}`
    case 'learning':
      return `learning ${plainWords(report.learning.insight)}`
    case 'escalation':
      return `escalation ${report.escalation.dedup_key}`
    case 'artifact':
      return `artifact ${report.artifact.name} ${report.artifact.sha256}`
  }
}

/** Returns the words of a text, which those of another attempt and another operation share however they are written. */
export function plainWords(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}
