import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import type { RunView } from '../api-views.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import { visible } from '../visible.ts'
import { sameModelFlag } from '../run/model-flag.ts'
import { clip, widthOf, type Paint } from './paint.ts'
import {
  cancelledOperations,
  failedOperations,
  operationsOf,
  type AgentProgress,
  type ProgressState,
} from './progress-state.ts'

/** What became of the patch. `elsewhere`: the hint is for the folder that holds the files, which is not known here. */
export type PatchResult = { path: string; applied: boolean; hint: string; elsewhere?: true } | undefined

/** A patch that was not fetched, and the command that prints it. */
export type UnfetchedPatch = { printedBy: string }

export type ReportParts = {
  state: ProgressState
  run: RunView
  patch: PatchResult | UnfetchedPatch
  conflicts: readonly ConflictLine[]
  /** What `--model` said, for the commands that go on. */
  model?: string | undefined
}
export type ConflictLine = { changeSetId: string; code: string; reason: string }

/** How to write: a terminal's lines are cut to its width, others not at all. */
export type ReportView = { paint: Paint; width: number }

const shownFailures = 5
const ends = ['succeeded', 'unchanged', 'skipped', 'failed'] as const

/** The end of `remora run` for a person: a row per agent, what was proved, what went wrong, where the patch is. */
export function renderReport({ state, run, patch, conflicts, model }: ReportParts, view: ReportView): string {
  const { paint } = view
  const blocks = [
    [headline(state, run, view)],
    table(state, paint),
    evidenceLines(run, paint),
    passedOverLines(state, view),
    failureLines(state, view),
    conflictLines(run, conflicts, view),
    patchLines({ state, run, patch }, paint),
    againLines(state, run, model),
    modelLines(state),
  ]
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}

function headline(state: ProgressState, run: RunView, { paint, width }: ReportView): string {
  const tone = toneOf(state, run)
  const took = run.duration_ms === null || run.duration_ms === undefined ? '' : ` in ${formatSeconds(run.duration_ms)}`
  const why = run.error_code === null || run.error_code === undefined ? '' : `: ${run.error_code} ${run.reason ?? ''}`
  const model = state.models.length === 0 ? '' : `  ·  ${visible(state.models.join(', '))}`
  return `${paint('bold', `run ${run.run_id}`)} ${paint(tone, run.status)}${took}${clip(why, width)}${model}`
}

function toneOf(state: ProgressState, run: RunView): 'red' | 'yellow' | 'green' {
  if (run.status !== 'completed') return 'red'
  if (isFruitless(state) && state.patchFiles === 0) return 'red'
  return failedOperations(state) > 0 ? 'yellow' : 'green'
}

function table(state: ProgressState, paint: Paint): string[] {
  const shownEnds = cancelledOperations(state) > 0 ? [...ends, 'cancelled' as const] : ends
  const rows = Object.entries(state.agents)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, agent]) => [name, ...figures(agent, shownEnds)])
  if (rows.length === 0) return []
  const columns = ['agent', 'operations', ...shownEnds, 'tokens', 'work']
  const widths = columns.map((title, at) => Math.max(title.length, ...rows.map((row) => widthOf(row[at] ?? ''))))
  const line = (cells: readonly string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')
  return [paint('dim', line(columns)), ...rows.map(line)]
}

function figures(agent: AgentProgress, shownEnds: readonly ('cancelled' | (typeof ends)[number])[]): string[] {
  const counts = [operationsOf(agent), ...shownEnds.map((end) => agent[end]), agent.tokens]
  return [...counts.map((count) => count.toLocaleString('en-US')), formatSeconds(agent.workMs)]
}

function evidenceLines(run: RunView, paint: Paint): string[] {
  const lines = Object.entries(run.checks).map(([check, counts]) => `  ${check.padEnd(18)} ${checkText(counts, paint)}`)
  return lines.length === 0 ? [] : ['Checked on the composed files:', ...lines]
}

function checkText(counts: RunView['checks'][string], paint: Paint): string {
  const { ok, total, with_errors: withErrors = 0, not_checked: notChecked = 0 } = counts
  if (total === 0) return paint('yellow', `${plural(notChecked, 'file')} not checked`)
  const tone = ok < total ? 'red' : withErrors + notChecked > 0 ? 'yellow' : 'green'
  const broken = withErrors === 0 ? '' : `, ${withErrors} with syntax errors it had before`
  const rest = notChecked === 0 ? '' : `, ${notChecked} not checked`
  return paint(tone, `${ok} of ${plural(total, 'file')}${broken}${rest}`)
}

function passedOverLines({ passedOver }: ProgressState, { width }: ReportView): string[] {
  if (passedOver.length === 0) return []
  const lines = passedOver.slice(0, shownFailures).map(({ path, reason }) => clip(`  ${path}  ${reason}`, width))
  const rest = passedOver.length > lines.length ? ['  … and others: remora discover lists all'] : []
  return ['Not worked on, or not as a whole:', ...lines, ...rest]
}

function failureLines(state: ProgressState, { paint, width }: ReportView): string[] {
  const total = failedOperations(state)
  if (total === 0) return []
  const shown = state.failures.slice(0, shownFailures)
  const lines = shown.map(({ agent, operationId, place, code, reason }) =>
    clip(`  ${code}  ${agent} ${operationId}  ${place}: ${reason}`, width),
  )
  const rest = total > shown.length ? [`  … and ${total - shown.length} more`] : []
  return [paint('red', `${plural(total, 'operation')} failed:`), ...lines, ...rest]
}

function conflictLines(run: RunView, conflicts: readonly ConflictLine[], { paint, width }: ReportView): string[] {
  if (run.conflicts === 0) return []
  const lines = conflicts.map(({ changeSetId, code, reason }) => clip(`  ${code}  ${changeSetId}  ${reason}`, width))
  const rest = run.conflicts > conflicts.length ? [`  … and ${run.conflicts - conflicts.length} more`] : []
  return [paint('yellow', `${plural(run.conflicts, 'change set')} left out of the patch:`), ...lines, ...rest]
}

function patchLines({ state, run, patch }: Omit<ReportParts, 'conflicts'>, paint: Paint): string[] {
  if (run.status !== 'completed') return []
  if (patch === undefined) return [noPatchLine(state)]
  const earlier = earlierLines(state, run)
  if ('printedBy' in patch) return [`Its patch: ${patch.printedBy}`, ...earlier]
  if (patch.applied) return [`Proposed patch: ${patch.path}`, ...earlier, paint('green', 'Applied.')]
  const place = patch.elsewhere ? '   (in the folder that holds the files)' : ''
  return [`Proposed patch: ${patch.path}`, ...earlier, `Apply it:       ${patch.hint}${place}`]
}

function noPatchLine(state: ProgressState): string {
  if (failedOperations(state) === 0) return 'Nothing to change: no patch was written.'
  if (isFruitless(state)) return 'No patch was written: no operation came to a good end.'
  return 'No patch was written: nothing to change where it went well.'
}

/** Whether nothing at all came to a good end. */
function isFruitless(state: ProgressState): boolean {
  const agents = Object.values(state.agents)
  return failedOperations(state) > 0 && agents.every(({ succeeded, unchanged }) => succeeded + unchanged === 0)
}

function earlierLines({ earlierChangeSets: count }: ProgressState, { request }: RunView): string[] {
  if (count === 0 || request.retry_of === undefined) return []
  return [`  with ${plural(count, 'change set')} of the run before (retry of ${request.retry_of})`]
}

/** How to go on after failures. */
function againLines(
  state: ProgressState,
  { run_id: runId, status, request }: RunView,
  model: string | undefined,
): string[] {
  if (failedOperations(state) === 0) return []
  if (status === 'completed') return [`Do again what failed: remora retry ${runId}${sameModelFlag(model)}`]
  if (status !== 'failed' || request.error_policy !== 'stop_run') return []
  return [
    `The first failure stopped the run. Do the rest: remora retry ${runId} --error-policy skip_downstream${sameModelFlag(model)}`,
  ]
}

function modelLines(state: ProgressState): string[] {
  return state.models.includes(rehearsalLabel) ? [`${rehearsalLabel}: its texts are made by rules, for show.`] : []
}
