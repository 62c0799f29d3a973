import { z } from 'zod'
import { Escalation } from '#domain/agenda.ts'
import {
  CodeFinding,
  FindingSeverity,
  maxClaimCharacters,
  maxLineCharacters,
  wireFinding,
} from '#domain/code-finding.ts'
import type { EventData } from '#domain/events/event-table.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { sha256 } from '#domain/ids.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import {
  EvidenceRefs,
  Learning,
  maxArtifactBytes,
  maxInsightCharacters,
  plainWords,
  type Report,
  ReportedArtifact,
  reportKey,
  reportLimits,
  reportsIn,
} from '#domain/reports.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'
import { type Workspace, refusal } from '../../workspace/open-workspace.ts'
import { optionalInteger, text, textList } from './external-arguments.ts'

export type ReportDeps = {
  operationId: string
  /** Counts the replies of the model. */
  turn(): number
  /** Says which of a tool call of this attempt and an event of the run exists. */
  exists(reference: { call: string } | { event: number }): boolean | Promise<boolean>
  /** Reads what the operation before on the same node has reported that still counts. */
  reportedBefore(): Promise<readonly Report[]>
  storeArtifact(content: string): Promise<void>
  emit(event: ToldAtOnce): void
}

type ToldAtOnce = {
  [Name in 'report.dropped' | 'progress.reported']: {
    event: Name
    phase: 'tools'
    data: Omit<EventData<Name>, 'attempt'>
  }
}['report.dropped' | 'progress.reported']

/** Makes the externals that say something of the work beside its result. `calledBefore`: what earlier attempts that this one continues have called. */
export function reportExternals(
  workspace: Pick<Workspace, 'readText'>,
  deps: ReportDeps,
  calledBefore: readonly JournalEntry[],
) {
  const take = openReports(deps, calledBefore)
  const refsOf = async (given: unknown) => existing(textList(given ?? [], 'evidence'), workspace, deps)
  return {
    async report_finding([claim, path, line, confidence, endLine, severity, rule, evidence]) {
      const stated = { claim: text(claim, 'claim').trim(), path: parseRepoPath(text(path, 'path'), 'TOOL_007') }
      const lines = await placeIn(workspace, stated.path, [line, endLine])
      const given = { ...stated, ...lines, severity: severity ?? 'warning', confidence, rule: rule ?? null }
      const finding = parsed(CodeFinding, given)
      return take({ kind: 'finding', finding, evidence_refs: await refsOf(evidence) })
    },
    async report_learning([insight, confidence, evidence]) {
      const learning = parsed(Learning, { insight, confidence })
      return take({ kind: 'learning', learning, evidence_refs: await refsOf(evidence) })
    },
    async report_escalation([kind, urgency, rationale, affected, evidence]) {
      const given = { kind, urgency, rationale, affected: affected ?? [deps.operationId], mitigation: 'notify' }
      const dedup_key = `${text(kind, 'kind')} ${sha256(plainWords(text(rationale, 'rationale'))).slice(0, 16)}`
      const escalation = parsed(Escalation, { ...given, dedup_key })
      return take({ kind: 'escalation', escalation, evidence_refs: await refsOf(evidence) })
    },
    async report_artifact([name, content, path, mediaType]) {
      const [isText, isFile] = [content ?? undefined, path ?? undefined].map((given) => given !== undefined)
      if (isText === isFile) throw new ScriptError('ValueError', 'an artifact is a text or a path, one of both')
      const made = isText === true ? text(content, 'text') : await workspace.readText(text(path, 'path'))
      const given = {
        name,
        media_type: mediaType ?? 'text/plain',
        bytes: Buffer.byteLength(made),
        sha256: sha256(made),
      }
      return take({ kind: 'artifact', artifact: parsed(ReportedArtifact, given) }, () => deps.storeArtifact(made))
    },
    report_progress([action, why]) {
      const [doing, reason] = [text(action, 'action'), text(why, 'reasoning_summary')].map((said) => said.slice(0, 500))
      deps.emit({
        event: 'progress.reported',
        phase: 'tools',
        data: { action: doing ?? '', reasoning_summary: reason ?? '' },
      })
    },
  } satisfies Record<string, ExternalFunction>
}

const shownKey = 200

/** Takes each report once, and of a kind no more than `reportLimits`; what is dropped is told by an event and to the script. */
function openReports(deps: ReportDeps, calledBefore: readonly JournalEntry[]) {
  const known = new Map(reportsIn(calledBefore).map((report) => [reportKey(report), { kind: report.kind, turn: -1 }]))
  let before: ReadonlySet<string> | undefined
  return async (report: Report, store?: () => Promise<void>) => {
    const { kind } = report
    const [key, turn, most] = [reportKey(report), deps.turn(), reportLimits[kind]]
    before ??= new Set((await deps.reportedBefore()).map(reportKey))
    const same = [...known.values()].filter((one) => one.kind === kind)
    const left = most.operation - same.length
    const isFull = left <= 0 || same.filter((one) => one.turn === turn).length >= most.turn
    const reason = known.has(key) || before.has(key) ? 'duplicate' : isFull ? 'limit' : undefined
    if (reason !== undefined) {
      deps.emit({ event: 'report.dropped', phase: 'tools', data: { kind, reason, key: key.slice(0, shownKey) } })
      const words = `at most ${most.turn} of a kind are taken in a turn, and ${most.operation} of an operation`
      return { reported: false, reason: reason === 'duplicate' ? 'it was reported before' : words }
    }
    known.set(key, { kind, turn })
    await store?.()
    const shown = report.kind === 'finding' ? { ...report, finding: wireFinding(report.finding) } : report
    return { reported: true, left: left - 1, ...shown }
  }
}

async function placeIn(
  workspace: Pick<Workspace, 'readText'>,
  path: string,
  [first, last]: readonly unknown[],
): Promise<Pick<CodeFinding, 'line' | 'endLine' | 'lineText'>> {
  const line = optionalInteger(first, 'line')
  if (line === undefined) throw new ScriptError('TypeError', 'line must be an integer')
  const endLine = optionalInteger(last, 'end_line') ?? line
  const lines = linesOf(await workspace.readText(path))
  if (line < 1 || endLine > lines.length)
    throw refusal(`${path} has lines 1 to ${lines.length}, got ${line} to ${endLine}`)
  if (line > endLine) throw refusal(`line (${line}) must be <= end_line (${endLine})`)
  const lineText = (lines[line - 1] ?? '').trim()
  return { line, endLine, lineText: lineText.length > maxLineCharacters ? '' : lineText }
}

function linesOf(content: string): string[] {
  return content.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/)
}

/** Raises ValueError for a reference to something that is not there. */
async function existing(
  given: readonly string[],
  workspace: Pick<Workspace, 'readText'>,
  { exists }: Pick<ReportDeps, 'exists'>,
): Promise<string[]> {
  const refs = parsed(z.object({ evidence: EvidenceRefs }), { evidence: given }).evidence
  for (const ref of refs) {
    const [, kind, id = ''] = /^(event|call):(.+)$/.exec(ref) ?? []
    const [, path, first, last] = /^(.+?):(\d+)(?:-(\d+))?$/.exec(ref) ?? []
    if (kind === undefined && path !== undefined)
      await placeIn(workspace, parseRepoPath(path, 'TOOL_007'), [
        Number(first),
        last === undefined ? null : Number(last),
      ])
    else if (kind === undefined || !(await exists(kind === 'call' ? { call: id } : { event: Number(id) })))
      throw refusal(`evidence "${ref}" is not there: name PATH:LINE, event:NUMBER or call:ID`)
  }
  return refs
}

const limits: Readonly<Record<string, string>> = {
  claim: `claim must have 1 to ${maxClaimCharacters} characters`,
  insight: `insight must have 1 to ${maxInsightCharacters} characters`,
  severity: `severity must be ${FindingSeverity.options.join(', ')}`,
  confidence: 'confidence must be a number from 0 to 1',
  rule: 'rule must be a name of at most 64 letters, digits and . _ / -',
  kind: `kind must be ${Escalation.shape.kind.options.join(', ')}`,
  urgency: `urgency must be ${Escalation.shape.urgency.options.join(', ')}`,
  bytes: `an artifact has at most ${maxArtifactBytes} bytes`,
  name: 'name must be one of a file, of at most 100 letters, digits and . _ -',
}

function parsed<Schema extends z.ZodType>(schema: Schema, given: object): z.infer<Schema> {
  const { data, error } = schema.safeParse(given)
  if (error === undefined) return data
  const names = [...new Set(error.issues.map(({ path }) => String(path[0])))]
  throw new ScriptError('ValueError', names.map((name) => limits[name] ?? `${name} is not valid`).join('; '))
}
