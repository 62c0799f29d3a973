import type { RunView } from '#schemas/run-schema.ts'
import type { EnvironmentView } from '#schemas/setup-schema.ts'
import { type Paint, visible, wrap } from '../terminal-text.ts'
import { formatSeconds } from '../wording.ts'

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
