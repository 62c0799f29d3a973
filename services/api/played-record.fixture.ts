import { CodeFinding, wireFinding } from '#domain/code-finding.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { Outcome } from '#domain/operation.ts'
import type { AttemptRecord, ToolRun } from '#store/objects/attempt-record.ts'

export type PlayedFinding = Pick<CodeFinding, 'claim'> & Partial<CodeFinding>

/** One run of a tool that has reported all of it. */
export function reportingRun(finds: readonly PlayedFinding[]): ToolRun {
  const usual = { path: 'a.py', line: 1, lineText: '', severity: 'warning', confidence: 0.5, rule: null }
  const externals = finds.map((found) => {
    const finding = wireFinding(CodeFinding.parse({ ...usual, endLine: found.line ?? 1, ...found }))
    return { name: 'report_finding', args: [], answer: { reported: true, finding } }
  })
  const result = { outcome: 'success', result: null, summary: 'reported', knowledgeDelta: {} } as const
  return { turn: 1, callId: 'c1', name: 'report_finding', arguments: '{}', result, externals, durationMs: 1 }
}

export function recordOf(
  job: { runId: string; operationId: string },
  changeSet: ChangeSet | null,
  outcome: Outcome,
  tools: readonly ToolRun[] = [],
): AttemptRecord {
  return {
    v: 1,
    runId: job.runId,
    operationId: job.operationId,
    attempt: 1,
    bundle: 'lint',
    bundleHash: sha256('lint'),
    model: 'none',
    versions: {},
    startedAt: 0,
    messages: [],
    replies: [],
    exchanges: [],
    tools: [...tools],
    reads: { contents: {}, listings: {}, absences: [] },
    changeSet,
    outcome,
  }
}
