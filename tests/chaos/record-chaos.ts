import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repository } from '../e2e/program.ts'
import { faultNames } from './fault.ts'
import { totalsLine } from './history-report.ts'
import type { HistoryOutcome } from './run-history.ts'

const execute = promisify(execFile)

export type Recorded = { seed: number; tookMs: number }

/** Writes the totals as a Markdown section to bench/results/chaos-<first seed>.md; answers that path. */
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
  const counts = faultNames.map((name) => `| ${name} | ${faults.filter(({ kind }) => kind === name).length} |`)
  const failing = outcomes.filter(({ violations }) => violations.length > 0).map(({ history }) => history.seed)
  const total = (of: (outcome: HistoryOutcome) => number) => outcomes.map(of).reduce((sum, one) => sum + one, 0)
  return `# Chaos: random faults against real processes

**${totalsLine(outcomes)}.** ${total(({ runs }) => runs.length)} runs, ${total(({ operations }) => operations)} operations, ${total(({ retried }) => retried)} attempts taken back and tried again, ${total(({ answered }) => answered)} questions answered.
${failing.length === 0 ? 'No seed failed.' : `Failing seeds: ${failing.join(', ')}.`}

- ${place.date.toISOString().slice(0, 10)}, commit ${place.commit}, ${Math.round(place.tookMs / 1000)} s in all
- ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.version}, Redis ${place.redis}; rehearsal model (no LLM)
- again: \`npm run chaos -- --seed ${place.seed} --runs ${outcomes.length}\`

| fault | times |
| --- | --- |
${counts.join('\n')}
`
}

async function versionOf(program: string, args: readonly string[], pattern: RegExp): Promise<string> {
  const { stdout } = await execute(program, args).catch(() => ({ stdout: '' }))
  return pattern.exec(stdout)?.[1] ?? 'unknown'
}
