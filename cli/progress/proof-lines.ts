import type { GateView } from '#schemas/gate-schema.ts'
import type { CheckView, RunView } from '#schemas/run-schema.ts'
import { type Paint, visible, wrap } from '../terminal-text.ts'
import type { EnvironmentView } from '#schemas/setup-schema.ts'
import { formatSeconds, plural } from '#domain/timeline/words.ts'

const shownFailures = 5

export function evidenceLines(run: RunView, paint: Paint): string[] {
  const checks = Object.entries(run.checks)
  const width = Math.max(...checks.map(([check]) => check.length))
  const lines = checks.map(([check, counts]) => `  ${check.padEnd(width)} ${checkText(counts, paint)}`)
  return lines.length === 0 ? [] : ['Checked on the changed files:', ...lines]
}

export function gateLines({ gate }: RunView, { paint, width }: { paint: Paint; width: number }): string[] {
  if (gate === null) return []
  const tone = gate.verdict === 'passed' && gate.left_out === 0 ? 'green' : 'yellow'
  const listed = gate.failing.slice(0, shownFailures).map((name) => `  ${name}`)
  const rest = gate.failing_total > listed.length ? [`  … and ${gate.failing_total - listed.length} more`] : []
  const failing =
    gate.failing_total === 0 ? [] : ['They do not pass on the original, or not each time:', ...listed, ...rest]
  const outputs = gate.verdict === 'passed' ? [] : gateOutputLines(gate)
  return [...wrap(paint(tone, `Verified with ${gate.command}: ${gateText(gate)}`), width), ...failing, ...outputs]
}

const shownOutputs = 3
const shownOutputLines = 10

export function gateOutputLines({ outputs, runs }: GateView): string[] {
  const bad = outputs.map((output, at) => ({ ...output, run: at + 1 })).filter(({ ending }) => ending !== 'exit code 0')
  return bad.slice(-shownOutputs).flatMap(({ run, change_sets: sets, ending, output }) => {
    const on = sets === 0 ? 'on the original' : `with ${plural(sets, 'change set')}`
    const lines = output === '' ? ['(nothing)'] : output.split('\n').slice(-shownOutputLines)
    return [`Run ${run} of ${runs}, ${on} (${ending}), wrote last:`, ...lines.map((line) => `  ${visible(line)}`)]
  })
}

/** `12 of 14 tests pass as before, the other 2 did not pass without the changes, 1 change set left out; 9 runs in 4.1 s` */
export function gateText(gate: GateView): string {
  const { verdict, reason, tests, failing_total: failing, runs, duration_ms: ms, left_out: leftOut } = gate
  const took = `${plural(runs, 'run')} in ${formatSeconds(ms)}`
  if (verdict !== 'passed') return `not proved: ${reason ?? ''}; ${took}`
  const share =
    failing === 0
      ? `${plural(tests ?? 0, 'test')} pass as before`
      : `${tests} of ${plural((tests ?? 0) + failing, 'test')} pass as before, the other ${failing} did not pass without the changes`
  const what = tests === null ? 'passes as before' : share
  const out = leftOut === 0 ? '' : `, ${plural(leftOut, 'change set')} left out`
  return `${what}${out}; ${took}${reason === undefined ? '' : `; ${reason}`}`
}

function checkText(counts: CheckView, paint: Paint): string {
  const {
    ok,
    total,
    with_errors: withErrors = 0,
    in_part: inPart = 0,
    not_checked: notChecked = 0,
    not_applicable: notApplicable = 0,
    planted = 0,
  } = counts
  const tone = ok < total ? 'red' : withErrors + notChecked > 0 ? 'yellow' : 'green'
  const also = (count: number, words: string) => (count === 0 ? '' : `, ${words}`)
  const apart = `${also(notChecked, `${notChecked} not checked`)}${also(notApplicable, `not applicable to ${notApplicable}`)}`
  if (total === 0) return paint(notChecked === 0 ? 'dim' : 'yellow', `no file${apart}`)
  const broken = also(withErrors, `${withErrors} with syntax errors it had before`)
  const part = also(inPart, `${inPart} of them for some of the changes`)
  const faults = also(planted, `${counts.noticed} of ${plural(planted, 'planted fault')} noticed`)
  return paint(tone, `${ok} of ${plural(total, 'file')}${broken}${part}${apart}${faults}`)
}

const shownLines = 12

/** Says what the run's setup made; if it failed, also the last lines of its output. Is empty for a run without one. */
export function setupLines({ environment }: RunView, { paint, width }: { paint: Paint; width: number }): string[] {
  if (environment === null) return []
  const tone = environment.status === 'failed' ? 'red' : 'green'
  const written = (environment.output ?? '').split('\n').filter((line) => line.trim() !== '')
  const shown = written.slice(-shownLines).map((line) => visible(`  ${line}`))
  return [...wrap(paint(tone, `Set up with ${environment.command}: ${setupText(environment)}`), width), ...shown]
}

/** `12.4 MB in 15.0 s`; of one that failed why, without what it said. */
export function setupText({ status, cached, bytes = 0, duration_ms: ms, reason }: EnvironmentView): string {
  const took = ms === undefined ? '' : ` in ${formatSeconds(ms)}`
  if (status === 'wanted') return 'not done yet'
  if (status === 'failed') return `SETUP_001 it failed${took}: ${reason ?? ''}; programs of the repository were not run`
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`
  return cached === true ? `${size}, made by an earlier run` : `${size}${took}`
}
