import { rehearsalLabel } from '#domain/model-kind.ts'
import { figure } from '#domain/figure.ts'
import { formatSeconds, nodePlace, plural } from '#domain/timeline/words.ts'
import type { RunAgenda } from '#schemas/agenda-schema.ts'
import type { PlanView } from '#schemas/plan-schema.ts'
import type { BudgetView, ConflictingSet, FailureView, LeftOut, RunView } from '#schemas/run-schema.ts'
import { joinBlocks } from '../wording.ts'
import { sameModelFlag } from '../run/unfinished-runs.ts'
import { blockedItems } from './blocked-items.ts'
import { answerLines } from './answer-lines.ts'
import { agentTable, plannedLines } from './agent-table.ts'
import { adviceOnOperation } from '#domain/operation-advice.ts'
import { type Paint, wrap } from '../terminal-text.ts'
import { failedOperations, isComposed, isFruitless, type ProgressState } from './progress-state.ts'
import { type PatchResult, patchLines, type UnfetchedPatch } from './patch-lines.ts'
import { evidenceLines, gateLines, setupLines } from './proof-lines.ts'

export type ReportParts = {
  state: ProgressState
  run: RunView
  /** Undefined for a further generation of a run, and while it cannot be read. */
  plan?: PlanView | undefined
  /** It is there for a run with an objective, where it can be read. */
  agenda?: RunAgenda | undefined
  patch: PatchResult | UnfetchedPatch
  /** The `--model` of this command, for the commands that the report suggests. */
  model?: string | undefined
  earlierRuns?: readonly string[]
}

/** Says how to write: lines are broken at the width of a terminal; for a pipe it is Infinity. */
export type ReportView = { paint: Paint; width: number }

const shownFailures = 5
const noCode = 'no error code'

export function renderReport({ state, run, plan, agenda, patch, model }: ReportParts, view: ReportView): string {
  const { paint } = view
  return joinBlocks([
    headline({ state, run, agenda }, view),
    run.answer === null ? [] : answerLines(run.answer).flatMap((line) => wrap(line, view.width)),
    plan === undefined ? [] : plannedLines(plan, { ...view, nodes: run.nodes }),
    agentTable(state, run.funnel, paint),
    usedLines(run),
    repeatedLines(state),
    evidenceLines(run, paint),
    setupLines(run, view),
    gateLines(run, view),
    skippedLines(state, view),
    findingLines(run),
    blockedLines(agenda, view),
    failureLines(state, run, view),
    leftOutLines(run, view),
    unreadLines(run, view),
    patchLines({ state, run, patch }, paint),
    retryLines(state, run, model),
    wantedRetryLines(run),
    modelLines(state),
  ])
}

type Ended = Pick<ReportParts, 'state' | 'run' | 'agenda'>

function headline(ended: Ended, { paint, width }: ReportView): string[] {
  const { state, run } = ended
  const tone = toneOf(ended)
  const took = run.duration_ms === null ? '' : ` in ${formatSeconds(run.duration_ms)}`
  const why = run.error_code === null ? '' : `: ${run.error_code} ${run.reason ?? ''}`
  const model = state.models.length === 0 ? '' : `  ·  ${state.models.join(', ')}`
  const [first = '', ...more] = wrap(`run ${run.run_id} ${run.status}${took}${why}${model}`, width)
  const named = `run ${run.run_id} ${run.status}`
  if (!first.startsWith(named)) return [first, ...more]
  return [`${paint('bold', `run ${run.run_id}`)} ${paint(tone, run.status)}${first.slice(named.length)}`, ...more]
}

function toneOf({ state, run, agenda }: Ended): 'red' | 'yellow' | 'green' {
  if (run.status !== 'completed') return 'red'
  if (isFruitless(state) && state.patchFiles === 0) return 'red'
  return failedOperations(state) + run.conflicts + blockedItems(agenda).length > 0 ? 'yellow' : 'green'
}

function repeatedLines({ repeated }: ProgressState): string[] {
  if (repeated === 0) return []
  return [`${plural(repeated, 'operation')} ran once more, on top of changes that theirs collided with`]
}

function skippedLines({ skippedFiles: files }: ProgressState, { width }: ReportView): string[] {
  if (files.length === 0) return []
  const lines = files.slice(0, shownFailures).flatMap(({ path, reason }) => wrap(`  ${path}  ${reason}`, width))
  const rest = files.length > shownFailures ? ['  … and others: remora discover lists all'] : []
  return ['Skipped, as a whole or in part:', ...lines, ...rest]
}

/** Says in one line what a run has used where that is more than its agents have. */
function usedLines({ budget }: RunView): string[] {
  return budget.used === budget.used_by_agents ? [] : [`Tokens of the run: ${usedText(budget)}`]
}

/** `7,524, of them 7,100 by planner, watcher and asks` */
export function usedText({ used, used_by_agents: byAgents }: BudgetView): string {
  return used === byAgents
    ? figure(used)
    : `${figure(used)}, of them ${figure(used - byAgents)} by planner, watcher and asks`
}

/** Names each item of the plan that was blocked, with why, and what took its place. */
export function blockedLines(agenda: RunAgenda | undefined, { paint, width }: ReportView): string[] {
  const items = blockedItems(agenda)
  if (agenda === undefined || items.length === 0) return []
  const lines = items.map(({ item_id: id, error_code: code, reason, replaced_by: other }) => {
    return `  ${id}: ${code} ${reason}${other === null ? '' : `; ${other} took its place`}`
  })
  const head = `${plural(items.length, 'item')} of the plan blocked:`
  return [
    paint('red', head),
    ...lines.flatMap((line) => wrap(line, width)),
    `  All of it: remora show ${agenda.run_id} --plan`,
  ]
}

function findingLines({ findings, run_id: runId }: RunView): string[] {
  return findings === 0 ? [] : [`${plural(findings, 'finding')}: remora findings ${runId}`]
}

function failureLines(state: ProgressState, run: RunView, { paint, width }: ReportView): string[] {
  const total = failedOperations(state)
  if (total === 0) return []
  const shown = run.failures.slice(0, shownFailures)
  const lines = shown.flatMap((failure) => wrap(`  ${failureText(failure)}`, width))
  const counted = shown.reduce((sum, { count }) => sum + count, 0)
  const rest = total > counted ? [`  … and ${total - counted} more: remora show ${run.run_id}`] : []
  return [paint('red', `${plural(total, 'operation')} failed:`), ...lines, ...rest, ...adviceLines(run)]
}

/** `AGENT_002 (1,639 operations)  lint o0123456789abcdef src/a.py f: no answer`: an error code and the first operation. */
export function failureText({ error_code: code, count, ...first }: FailureView): string {
  const times = count === 1 ? '' : ` (${plural(count, 'operation')})`
  const node = nodePlace(first.path, first.qualified_name)
  return `${code ?? noCode}${times}  ${first.agent} ${first.operation_id}  ${node}: ${first.reason ?? ''}`
}

function unreadLines(run: RunView, { width }: ReportView): string[] {
  const what = unreadText(run)
  return what === '' ? [] : wrap(`Not read: ${what}; remora show ${run.run_id} has it later`, width)
}

const unreadParts: Readonly<Record<string, string>> = {
  composition: 'checks and conflicts',
  skipped_files: 'skipped files',
}

/** Names what the service cannot tell of the run just now; empty, as a rule. */
export function unreadText({ unread }: Pick<RunView, 'unread'>): string {
  if (unread.length === 0) return ''
  return `${unread.map((part) => unreadParts[part] ?? part).join(' and ')}, since the object store is away`
}

function adviceLines({ run_id: runId, failures }: RunView): string[] {
  return failures.slice(0, shownFailures).flatMap(({ error_code: code, operation_id: id }) => {
    if (code === null) return []
    const { text } = adviceOnOperation(code)
    return [`  What to do about ${code}: ${text.replaceAll('RUN OPERATION', `${runId} ${id}`)}`]
  })
}

/** Lists what is left out of the patch of all, at most so many of it, each with why, and says what can be done about it. */
export function leftOutLines(run: RunView, { paint, width }: ReportView, most = shownFailures): string[] {
  const { conflicts, left_out: leftOut, run_id: runId } = run
  if (conflicts === 0) return []
  const shown = leftOut.slice(0, most)
  const lines = shown.flatMap((set) => wrap(`  ${leftOutText(set)}`, width))
  const rest = conflicts > shown.length ? [`  … and ${conflicts - shown.length} more: remora show ${runId} --json`] : []
  const first = shown.find((set) => set.with?.text !== undefined) ?? shown[0]
  const texts = first?.with?.text === undefined ? '' : ', and what the two make of the place'
  const advice =
    first === undefined
      ? []
      : [`  See one with its evidence${texts}: remora diff ${runId} ${first.operation_id}`, ...waysOn(shown)]
  return [paint('yellow', `${plural(conflicts, 'change set')} left out of the patch:`), ...lines, ...rest, ...advice]
}

function waysOn(leftOut: readonly LeftOut[]): string[] {
  const broken = leftOut.filter(({ by_itself: byItself }) => byItself).length
  const again = ', apply the patch and run again: then it is made on top of it.'
  return [
    ...(broken === 0 ? [`  To have it as well${again}`] : []),
    ...(broken > 0 && broken < leftOut.length ? [`  To have what breaks nothing by itself as well${again}`] : []),
    ...(broken > 0
      ? ['  What breaks something by itself must be made in another way: reject it with a word, and retry.']
      : []),
  ]
}

/** Says why a change set is not in the patch, in one sentence that names the change set it conflicts with. */
export function leftOutText(leftOut: LeftOut): string {
  const { error_code: code, path, reason, with: other } = leftOut
  const what = `${code}  ${setText(leftOut, path)}`
  if (code === 'WORK_001' && other !== undefined) return `${what} collides with ${setText(other, path)}`
  if (code === 'WORK_001') return `${what}: ${reason}`
  if (code === 'WORK_002') {
    return other === undefined
      ? `${what}: ${reason}`
      : `${what} is built on ${setText(other, path)}, which is not in the patch`
  }
  // Of what the run's tests say: the file itself is sound, and of some sets nothing is known.
  if (code === 'WORK_007') return `${what}: ${reason}`
  const alone = leftOut.by_itself ? ' by itself' : ''
  const together = other === undefined ? alone : ` together with ${setText(other, path)}`
  return `${what} breaks ${path}${together}: ${reason}`
}

/** `docstring o0123456789abcdef src/a.py f (lines 12-14)`; the file is named where it is another than the node's. */
function setText({ agent, operation_id: id, node, lines }: ConflictingSet, path: string): string {
  const shown = node === undefined ? path : nodePlace(node.path, node.qualified_name)
  const elsewhere = node === undefined || node.path === path ? '' : ` in ${path}`
  return [agent, id, `${shown}${elsewhere}`, linesText(lines)]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

function linesText(lines: ConflictingSet['lines']): string {
  if (lines === undefined) return ''
  return lines.first === lines.last ? `(line ${lines.first})` : `(lines ${lines.first}-${lines.last})`
}

function retryLines(
  state: ProgressState,
  { run_id: runId, status, request, failures }: RunView,
  model: string | undefined,
): string[] {
  if (failedOperations(state) === 0) return []
  if (isComposed(status, state)) {
    const mayPass = failures.some(({ error_code: code }) => adviceOnOperation(code ?? '').retry === 'now')
    const when = mayPass ? 'Try what failed again' : 'Then try what failed again'
    const again = `remora retry ${runId}${sameModelFlag(model)}`
    const [commonest] = failures
    const isOneOfMany = failures.length > 1 && commonest?.error_code
    return [`${when}: ${again}`, ...(isOneOfMany ? [`  only with one code: ${again} --code ${isOneOfMany}`] : [])]
  }
  if (status !== 'failed' || request.error_policy !== 'stop_run') return []
  return [
    `The first failure stopped the run. Do the rest: remora retry ${runId} --error-policy skip_downstream${sameModelFlag(model)}`,
  ]
}

/** Says what becomes of what was rejected while the run ran. */
function wantedRetryLines({ retry_wanted: wanted, run_id: runId }: RunView): string[] {
  if (wanted === 0) return []
  return [`${plural(wanted, 'rejected operation')} to be tried again as soon as services run: remora watch ${runId}`]
}

function modelLines(state: ProgressState): string[] {
  return state.models.includes(rehearsalLabel) ? [`${rehearsalLabel}: its texts are made by rules, for show.`] : []
}
