import type { GateView, RunView } from '../run-views.ts'
import { type Paint, wrap } from '../terminal-text.ts'
import { formatSeconds, plural } from '../wording.ts'

const shownFailures = 5

/** What was proved of the changed files, a line for each check. */
export function evidenceLines(run: RunView, paint: Paint): string[] {
  const lines = Object.entries(run.checks).map(([check, counts]) => `  ${check.padEnd(18)} ${checkText(counts, paint)}`)
  return lines.length === 0 ? [] : ['Checked on the changed files:', ...lines]
}

/** What the run's own gate found. */
export function gateLines({ gate }: RunView, { paint, width }: { paint: Paint; width: number }): string[] {
  if (gate === undefined || gate === null) return []
  const tone = gate.verdict === 'passed' && gate.left_out === 0 ? 'green' : 'yellow'
  const listed = gate.failing.slice(0, shownFailures).map((name) => `  ${name}`)
  const rest = gate.failing_total > listed.length ? [`  … and ${gate.failing_total - listed.length} more`] : []
  const failing =
    gate.failing_total === 0 ? [] : ['They do not pass on the original, or not each time:', ...listed, ...rest]
  return [...wrap(paint(tone, `Verified with ${gate.command}: ${gateText(gate)}`), width), ...failing]
}

/** `12 tests pass as before, 1 change set left out; 9 runs in 4.1 s` */
export function gateText({ verdict, reason, tests, runs, duration_ms: ms, left_out: leftOut }: GateView): string {
  const took = `${plural(runs, 'run')} in ${formatSeconds(ms)}`
  if (verdict !== 'passed') return `not proved: ${reason ?? ''}; ${took}`
  const what = tests === null ? 'passes as before' : `${plural(tests, 'test')} pass as before`
  const out = leftOut === 0 ? '' : `, ${plural(leftOut, 'change set')} left out`
  return `${what}${out}; ${took}${reason === undefined ? '' : `; ${reason}`}`
}

function checkText(counts: RunView['checks'][string], paint: Paint): string {
  const { ok, total, with_errors: withErrors = 0, not_checked: notChecked = 0, planted = 0 } = counts
  if (total === 0) return paint('yellow', `${plural(notChecked, 'file')} not checked`)
  const tone = ok < total ? 'red' : withErrors + notChecked > 0 ? 'yellow' : 'green'
  const also = (count: number, words: string) => (count === 0 ? '' : `, ${words}`)
  const broken = also(withErrors, `${withErrors} with syntax errors it had before`)
  const faults = also(planted, `${counts.noticed} of ${plural(planted, 'planted fault')} noticed`)
  return paint(
    tone,
    `${ok} of ${plural(total, 'file')}${broken}${also(notChecked, `${notChecked} not checked`)}${faults}`,
  )
}
