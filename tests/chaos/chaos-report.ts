import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describeFault, faultNames } from './fault.ts'
import type { HistoryOutcome } from './run-history.ts'
import { type Column, table } from '../../bench/reports/markdown-report.ts'
import { repository } from '../e2e/program.ts'

/** `seed 17  4 faults (kill_worker, wipe_queues …)  2 runs  61 operations  5 retried  3 answered  4.1 s  0 violations` */
export function historyLine(outcome: HistoryOutcome): string {
  const { history, runs, operations, retried, answered, durationMs, violations } = outcome
  const kinds = history.faults.map(({ kind }) => kind).join(', ')
  return [
    `seed ${history.seed}`,
    `${history.faults.length} faults (${kinds})`,
    `${runs.length} runs`,
    `${operations} operations`,
    `${retried} retried`,
    `${answered} answered`,
    `${(durationMs / 1000).toFixed(1)} s`,
    `${violations.length} violations`,
  ].join('  ')
}

/** How to play the history again, where its logs are, its schedule and its violations. */
export function failureText({ history, met, violations }: HistoryOutcome, folder: string): string {
  const { seed, latencyMs, streams, submissions, faults } = history
  const schedule = met.length > 0 ? met : faults.map(describeFault)
  return [
    `  again: npm run chaos -- --seed ${seed} --runs 1`,
    `  folder: ${folder}`,
    `  model latency ${latencyMs} ms${streams ? ', replies streamed' : ''}`,
    ...submissions.map(({ atMs, request }) => `  ${atMs} ms submission ${JSON.stringify(request)}`),
    ...schedule.map((line) => `  ${line}`),
    ...violations.map((violation) => `  VIOLATION ${violation}`),
  ].join('\n')
}

/** `200 histories, 871 faults, 0 violations` */
export function totalsLine(outcomes: readonly HistoryOutcome[]): string {
  const faults = outcomes.flatMap(({ history }) => history.faults).length
  const violations = outcomes.flatMap((outcome) => outcome.violations).length
  return `${outcomes.length} histories, ${faults} faults, ${violations} violations`
}

const execute = promisify(execFile)

type Recorded = { seed: number; tookMs: number }

/** Writes the totals as a Markdown section to bench/results/chaos-<first seed>.md; returns that path. */
export async function recordChaos(outcomes: readonly HistoryOutcome[], recorded: Recorded): Promise<string> {
  const folder = join(repository, 'bench/results')
  await mkdir(folder, { recursive: true })
  const redis = await versionOf('redis-server', ['--version'], /v=(\S+)/)
  const place = { redis, commit: await versionOf('git', ['-C', repository, 'rev-parse', '--short', 'HEAD'], /(\w+)/) }
  const path = `bench/results/chaos-${recorded.seed}.md`
  await writeFile(join(repository, path), chaosSection(outcomes, { ...recorded, ...place, date: new Date() }))
  return path
}

/** The section's text: totals, what they were measured on, and how often each fault happened. */
export function chaosSection(
  outcomes: readonly HistoryOutcome[],
  place: Recorded & { redis: string; commit: string; date: Date },
): string {
  const faults = outcomes.flatMap(({ history }) => history.faults)
  const columns: readonly Column<string>[] = [
    ['fault', (name) => name],
    ['times', (name) => faults.filter(({ kind }) => kind === name).length],
  ]
  const failing = outcomes.filter(({ violations }) => violations.length > 0).map(({ history }) => history.seed)
  const total = (of: (outcome: HistoryOutcome) => number) => outcomes.map(of).reduce((sum, one) => sum + one, 0)
  return `# Chaos: random faults against real processes

**${totalsLine(outcomes)}.** ${total(({ runs }) => runs.length)} runs, ${total(({ operations }) => operations)} operations, ${total(({ retried }) => retried)} attempts taken back and tried again, ${total(({ answered }) => answered)} questions answered.
${failing.length === 0 ? 'No seed failed.' : `Failing seeds: ${failing.join(', ')}.`}

- ${place.date.toISOString().slice(0, 10)}, commit ${place.commit}, ${Math.round(place.tookMs / 1000)} s in all
- ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.version}, Redis ${place.redis}; rehearsal model (no LLM)
- again: \`npm run chaos -- --seed ${place.seed} --runs ${outcomes.length}\`

${table(columns, faultNames)}
`
}

async function versionOf(program: string, args: readonly string[], pattern: RegExp): Promise<string> {
  const { stdout } = await execute(program, args).catch(() => ({ stdout: '' }))
  return pattern.exec(stdout)?.[1] ?? 'unknown'
}
