import { fullNameOf } from '#domain/repository-source.ts'
import { describeModelKind, modelKindOf } from '#domain/model-kind.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import { isEnded } from '#domain/run.ts'
import type { RunAgenda } from '#schemas/agenda-schema.ts'
import type { EdgeShape } from '#schemas/node-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { PlanView } from '#schemas/plan-schema.ts'
import type { BudgetView, RunView } from '#schemas/run-schema.ts'
import { figure } from '#domain/figure.ts'
import { labelledLines } from '../wording.ts'
import { plannedLines } from '../progress/agent-table.ts'
import { gateOutputLines, gateText, setupText } from '../progress/proof-lines.ts'
import { blockedLines, failureText, leftOutLines, unreadText, usedText } from '../progress/result-report.ts'
import { formatSeconds, nodePlace, plural } from '#domain/timeline/words.ts'
import { answerLines } from '../progress/answer-lines.ts'
import { waitingLines } from '../progress/describe-waiting.ts'
import { clip, openPaint, visibleName, wrap } from '../terminal-text.ts'
import { resumeCommand } from './unfinished-runs.ts'
import type { NodeWithEdges } from './find-operation.ts'

/** Says with `isWaiting` that no stack works on the run, with `plan` why there are no operations, and with `agenda` what was planned and blocked. */
export type RunDisplay = {
  isWaiting: boolean
  width: number
  modelUrls?: string | undefined
  plan?: PlanView | undefined
  agenda?: RunAgenda | undefined
}

const usualPriority = 5
/** The whole objective is in the plan. */
const textWidth = 200
const usualPolicy = 'skip_downstream'

export function describeRun(run: RunView, operations: readonly OperationView[], display: RunDisplay): string {
  const { request, error_code: code } = run
  const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
  const kind = modelKindOf(request.labels)
  const lines = labelledLines([
    ['run', run.run_id],
    ['status', display.isWaiting && !isEnded(run.status) ? waitingStatus(run, display) : statusOf(run)],
    ['reason', code ? '' : (run.reason ?? '')],
    ['generation', run.generation === 1 ? '' : String(run.generation)],
    ['to retry', toRetry(run)],
    ['repository', repositoryText(run)],
    ['published', publishedText(run)],
    ['objective', request.objective === undefined ? '' : clip(request.objective, textWidth)],
    ['agents', request.agents.join(', ')],
    ['dry run', request.dry_run ? 'no agent ran: only the plan was made' : ''],
    ['included', (request.include ?? []).map(includedText).join(', ')],
    ['model', kind === undefined ? '' : describeModelKind(kind)],
    ['priority', request.priority === usualPriority ? '' : String(request.priority)],
    ['accepts', request.accept === 'auto' ? 'what has all the evidence that its agent asks for' : ''],
    ['budget', run.budget.tokens === null ? '' : budgetText(run.budget)],
    ['policy', request.error_policy === usualPolicy ? '' : request.error_policy],
    ['accepted', run.accepted_at],
    ['took', tookOf(run)],
    ['skipped', run.skipped === 0 ? '' : String(run.skipped)],
    ['operations', counts.map(([status, count]) => `${count} ${status}`).join(', ')],
    ...run.funnel.map((funnel, at) => [at === 0 ? 'changes' : '', funnelText(funnel)] as const),
    ['tokens', tokensOf(run)],
    ['findings', run.findings === 0 ? '' : `${run.findings}: remora findings ${run.run_id}`],
    ['checks', checksOf(run)],
    ['setup', run.environment ? `${run.environment.command}: ${setupText(run.environment)}` : ''],
    ['gate', run.gate ? `${run.gate.command}: ${gateText(run.gate)}` : ''],
    ['left out', acceptedLeftOutText(run)],
    ['conflicts', run.unread.includes('composition') ? '' : String(run.conflicts)],
    ['not read', unreadText(run)],
  ])
  const { run_id: runId, project_id: projectId, waiting_for: waitingFor } = run
  const waits = display.isWaiting ? [] : waitingLines({ runId, projectId, waitingFor })
  const waiting = waits.length === 0 ? [] : ['', ...waits.map((line) => clip(line, display.width))]
  const answer =
    run.answer === null ? [] : ['', ...answerLines(run.answer).flatMap((line) => wrap(line, display.width))]
  const outputs = run.gate ? gateOutputLines(run.gate) : []
  const gate = outputs.length === 0 ? [] : ['', ...outputs.map((line) => clip(line, display.width))]
  const planned = display.plan === undefined ? [] : ['', ...plannedLines(display.plan, display)]
  return `${[...lines, ...waiting, ...answer, ...gate, ...planned, ...skippedBlock(run, display), ...conflictLines(run, display), ...blockedBlock(display), ...failureLines(run, display), ...operationLines(run, operations, display)].join('\n')}\n`
}

function repositoryText({ repository }: RunView): string {
  if (!repository) return ''
  const { commit, ref } = repository
  return [fullNameOf(repository), ref, ...(commit === null ? [] : [commit.slice(0, 12)])].join(' ')
}

function publishedText({ publication }: RunView): string {
  const { pulls = [], fault } = publication ?? {}
  const shown = pulls.map(({ url, state }) => (state === 'open' ? url : `${url} (${state})`))
  return [...shown, ...(fault ? [`${fault.error_code}: ${fault.reason}`] : [])].join(', ')
}

export function budgetText({ tokens, used }: BudgetView): string {
  return tokens === null ? `${plural(used, 'token')} used` : `${figure(used)} of ${plural(tokens, 'token')} used`
}

/** Files that git tracks although .gitignore names them are sent, and included, without being asked for. */
function includedText(kind: string): string {
  return kind === 'ignored' ? 'ignored (git tracks them all the same, or they were asked for)' : kind
}

/** `lint: 12 generated, 11 valid, 11 verified, 4 accepted, 1 rejected`; of a run that is not composed, what was decided. */
function funnelText(funnel: RunView['funnel'][number]): string {
  const { agent, generated, valid, verified, accepted, accepted_unverified: unverified, rejected, merged } = funnel
  const made = generated === null ? [] : [`${generated} generated`, `${valid} valid`, `${verified} verified`]
  const decided = [
    `${accepted} accepted`,
    ...(unverified === 0 ? [] : [`${unverified} accepted unverified`]),
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(merged === 0 ? [] : [`${merged} merged`]),
  ]
  const open = generated === null ? ' (the rest is counted when the run is composed)' : ''
  return `${agent}: ${[...made, ...decided].join(', ')}${open}`
}

/** Says what the run has used, and what its agents have for each change that it proposes, and for each that was accepted. */
function tokensOf({ budget, funnel }: RunView): string {
  if (budget.used === 0) return ''
  const { used_by_agents: used } = budget
  const each = (count: number, what: string) =>
    count === 0 || used === 0 ? [] : [`${figure(Math.round(used / count))} for each ${what}`]
  const proposed = funnel.reduce((sum, agent) => sum + (agent.generated ?? 0), 0)
  const accepted = funnel.reduce((sum, agent) => sum + agent.accepted + agent.accepted_unverified, 0)
  return [usedText(budget), ...each(proposed, 'proposed change'), ...each(accepted, 'accepted one')].join(', ')
}

function acceptedLeftOutText({ accepted_left_out: count, run_id: id }: RunView): string {
  if (count === 0) return ''
  return `${plural(count, 'accepted change set')}, which "remora apply" does not write: "remora diff ${id} --of accepted" says why`
}

function toRetry({ retry_wanted: wanted, status }: RunView): string {
  if (wanted === 0) return ''
  return `${plural(wanted, 'rejected operation')}, ${isEnded(status) ? 'in a moment' : 'by itself when the run has ended'}`
}

const shownConflicts = 20

function conflictLines(run: RunView, { width }: RunDisplay): string[] {
  const lines = leftOutLines(run, { width, paint: openPaint(false) }, shownConflicts)
  return lines.length === 0 ? [] : ['', ...lines]
}

function blockedBlock({ agenda, width }: RunDisplay): string[] {
  const lines = blockedLines(agenda, { width, paint: openPaint(false) })
  return lines.length === 0 ? [] : ['', ...lines]
}

function failureLines({ failures }: RunView, { width }: RunDisplay): string[] {
  if (failures.length === 0) return []
  return [
    '',
    'failed or blocked, by error code, each with the first:',
    ...failures.map((failure) => clip(failureText(failure), width)),
  ]
}

function tookOf({ status, duration_ms: ms }: RunView): string {
  if (!isEnded(status)) return 'not ended'
  return ms === null ? '' : formatSeconds(ms)
}

function checksOf({ checks }: RunView): string {
  const figures = Object.entries(checks).map(([check, { ok, total, with_errors: errors }]) =>
    errors === undefined ? `${check} ${ok}/${total}` : `${check} ${ok}/${total} (${errors} with errors as before)`,
  )
  return figures.join(', ')
}

function statusOf({ status, current_step: step, error_code: code, reason }: RunView): string {
  return `${status}${isEnded(status) ? '' : ` (${step})`}${code ? `: ${code} ${reason ?? ''}` : ''}`
}

function waitingStatus(run: RunView, { modelUrls }: RunDisplay): string {
  return `nothing works on it now, it is in ${run.phase}: "${resumeCommand(run, modelUrls)}" continues it, "remora up" all runs`
}

function operationLines(run: RunView, operations: readonly OperationView[], { width }: RunDisplay): string[] {
  if (operations.length === 0) return []
  const total = Object.values(run.counts).reduce((sum, count) => sum + count, 0)
  const more = total > operations.length ? [`… and ${total - operations.length} more: --operations lists all`] : []
  const agentWidth = Math.max(...operations.map(({ agent }) => agent.length))
  return ['', ...operations.map((operation) => clip(operationLine(operation, agentWidth), width)), ...more]
}

function operationLine({ operation_id: id, status, agent, node, outcome }: OperationView, agentWidth: number): string {
  const why = outcome?.error_code === undefined ? outcome?.summary : `${outcome.error_code} ${outcome.reason ?? ''}`
  return `${id}  ${status.padEnd(10)}  ${agent.padEnd(agentWidth)}  ${nodePlace(node.path, node.qualified_name)}  ${why ?? ''}`
}

const headings = [
  ['out', 'imports', 'imports'],
  ['out', 'calls', 'calls'],
  ['out', 'inherits', 'inherits from'],
  ['out', 'tests', 'tests'],
  ['in', 'imports', 'imported by'],
  ['in', 'calls', 'called by'],
  ['in', 'inherits', 'inherited by'],
  ['in', 'tests', 'tested by'],
] as const

/** So many edges of one kind; `--json` has all. */
const mostShown = 50

export function describeNode({ node, edges }: NodeWithEdges): string {
  const { path, kind, language, qualified_name: name, start_line: first, end_line: last, node_id: id } = node
  const current = node.operations.filter((operation) => operation.superseded_by === null)
  const operations = current.map(({ agent, status }) => `${agent} ${status}`)
  const lines = labelledLines([
    ['node', nodePlace(path, name)],
    ['id', id],
    ['kind', `${kind}, ${language}, lines ${first}-${last}`],
    ['operations', operations.join(', ')],
    ['edges', countsOf(edges)],
  ])
  for (const [direction, edgeKind, heading] of headings) {
    const such = edges.filter((edge) => edge.direction === direction && edge.kind === edgeKind)
    if (such.length === 0) continue
    lines.push('', heading, ...such.slice(0, mostShown).map(edgeLine))
    if (such.length > mostShown) lines.push(`  … and ${such.length - mostShown} more: --json lists all`)
  }
  return lines.join('\n')
}

function countsOf(edges: readonly EdgeShape[]): string {
  const out = edges.filter((edge) => edge.direction === 'out').length
  return `${out} out, ${edges.length - out} in`
}

function edgeLine({ node, certainty }: EdgeShape): string {
  const lines = `${node.start_line}-${node.end_line}`
  return `  ${lines.padEnd(11)} ${nodePlace(node.path, node.qualified_name)}${certainty === 'by_name' ? '  (by name)' : ''}`
}

const shownSkipped = 10

/** Returns the first ten skipped files with their reasons, and which command lists the others. `total` may be more than are listed. */
export function skippedLines(skipped: readonly SkippedFile[], others: string, total = skipped.length): string[] {
  const lines = skipped
    .slice(0, shownSkipped)
    .map(({ path, reason }) => `  ${visibleName(path)}  ${visibleName(reason)}`)
  return total > lines.length ? [...lines, `  … and ${total - lines.length} more: ${others}`] : lines
}

function skippedBlock({ run_id: id, skipped, skipped_files: files }: RunView, { width }: RunDisplay): string[] {
  const first = skipped > files.length ? `the first ${files.length}` : 'all'
  const lines = skippedLines(files, `remora show ${id} --json lists ${first}`, skipped)
  return lines.length === 0 ? [] : ['', 'skipped, as a whole:', ...lines.flatMap((line) => wrap(line, width))]
}

/** Returns what `--json` adds to a run that no stack works on, because its status does not show that. */
export function waitingView({ status }: Pick<RunView, 'status'>, isWaiting: boolean): { waits_for_stack?: true } {
  return isWaiting && !isEnded(status) ? { waits_for_stack: true } : {}
}
