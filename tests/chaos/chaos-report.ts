import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { conductorFaultNames } from './draw-conductor-fault.ts'
import type { HostTally } from './chaos-host.ts'
import type { NetworkTally } from './chaos-network.ts'
import { describeFault, faultNames, hostFaultNames, machineNames, networkFaultNames } from './fault.ts'
import type { HistoryOutcome } from './run-history.ts'
import { repository } from '../program.ts'

/** `seed 17  4 faults (kill_worker, wipe_queues …)  2 runs  61 operations  5 retried  3 answered  2 deferred  4.1 s  0 violations` */
export function historyLine(outcome: HistoryOutcome): string {
  const { history, met, runs, operations, retried, lost, answered, deferred, network, host, durationMs, violations } =
    outcome
  const kinds = history.faults.map(({ kind }) => kind).join(', ')
  const ofTheNetwork = network === undefined ? [] : met.filter((line) => networkLine.test(line))
  const counts = [
    `seed ${history.seed}`,
    `${history.faults.length} faults (${kinds})`,
    `${runs.length} runs`,
    `${operations} operations`,
    `${retried} retried`,
    ...(network === undefined ? [] : [`${lost} lost`]),
    `${answered} answered`,
    `${deferred} deferred`,
    ...(host === undefined ? [] : [hostText(host)]),
    `${(durationMs / 1000).toFixed(1)} s`,
    `${violations.length} violations`,
  ]
  return [counts.join('  '), ...ofTheNetwork.map((line) => `  ${line}`)].join('\n')
}

/** `4 pushes, 1 merges, 31 webhooks (3 lost, 2 doubled, 4 late, 0 shuffled), 1 kills of the publisher` */
function hostText({ pushes, merges, webhooks, lost, doubled, late, shuffled, kills }: HostTally): string {
  const disturbed = `${lost} lost, ${doubled} doubled, ${late} late, ${shuffled} shuffled`
  return `${pushes} pushes, ${merges} merges, ${webhooks} webhooks (${disturbed}), ${kills} kills of the publisher`
}

const networkLine = new RegExp(`^\\d+ ms (${networkFaultNames.join('|')}) `)

/** How to play the history again, where its logs are, its schedule and its violations. */
export function failureText({ history, met, network, violations }: HistoryOutcome, folder: string): string {
  const { seed, latencyMs, streams, submissions, repository: pushed, policy, faults } = history
  const schedule = met.length > 0 ? met : faults.map(describeFault)
  return [
    `  again: npm run chaos -- ${network === undefined ? '' : '--machines '}${pushed === undefined ? '' : '--pushes '}${policy === undefined ? '' : '--objectives '}--seed ${seed} --runs 1`,
    `  folder: ${folder}`,
    `  model latency ${latencyMs} ms${streams ? ', replies streamed' : ''}${policy === undefined ? '' : `, decides by ${policy}`}`,
    ...submissions.map(({ atMs, request }) => `  ${atMs} ms submission ${JSON.stringify(request)}`),
    ...(pushed?.pushes ?? []).map(
      ({ atMs, branch }) => `  ${atMs} ms push to ${branch}, for ${pushed?.agents.join(', ')}`,
    ),
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

type Recorded = { seed: number; machines: boolean; pushes: boolean; objectives: boolean; tookMs: number }

/** Replaces the section bench/results/chaos[-machines|-pushes|-objectives].md by these totals; returns its path. */
export async function recordChaos(outcomes: readonly HistoryOutcome[], recorded: Recorded): Promise<string> {
  const folder = join(repository, 'bench/results')
  await mkdir(folder, { recursive: true })
  const redis = await versionOf('redis-server', ['--version'], /v=(\S+)/)
  const place = { redis, commit: await versionOf('git', ['-C', repository, 'rev-parse', '--short', 'HEAD'], /(\w+)/) }
  const path = `bench/results/chaos${optionOf(recorded).replace('--', '-').trim()}.md`
  await writeFile(join(repository, path), chaosSection(outcomes, { ...recorded, ...place, date: new Date() }))
  return path
}

function optionOf({ machines, pushes, objectives }: Recorded): string {
  return machines ? '--machines ' : pushes ? '--pushes ' : objectives ? '--objectives ' : ''
}

/** The section's text: totals, what they were measured on, and how often each fault happened. */
export function chaosSection(
  outcomes: readonly HistoryOutcome[],
  place: Recorded & { redis: string; commit: string; date: Date },
): string {
  const faults = outcomes.flatMap(({ history }) => history.faults)
  const kinds = [...faultNames, ...(place.machines ? networkFaultNames : [...hostFaultNames, ...conductorFaultNames])]
  const failing = outcomes.filter(({ violations }) => violations.length > 0).map(({ history }) => history.seed)
  const total = (of: (outcome: HistoryOutcome) => number) => outcomes.map(of).reduce((sum, one) => sum + one, 0)
  const title = place.machines ? 'random faults between machines' : 'random faults against real processes'
  return `# Chaos: ${title}

**${totalsLine(outcomes)}.** ${total(({ runs }) => runs.length)} runs, ${total(({ operations }) => operations)} operations, ${total(({ retried }) => retried)} attempts taken back and tried again, ${total(({ answered }) => answered)} questions answered, ${total(({ deferred }) => deferred)} waits for a tool that took long.
${failing.length === 0 ? 'No seed failed.' : `Failing seeds: ${failing.join(', ')}.`}${pushesText(outcomes)}${networkText(outcomes)}

- ${place.date.toISOString().slice(0, 10)}, commit ${place.commit}, ${Math.round(place.tookMs / 1000)} s in all
- ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.version}, Redis ${place.redis}; rehearsal model (no LLM)
- again: \`npm run chaos -- ${optionOf(place)}--seed ${place.seed} --runs ${outcomes.length}\`

Faults: ${kinds.map((name) => `${name} ${faults.filter(({ kind }) => kind === name).length}`).join(', ')}.
`
}

/** What was pushed, and what became of the webhooks. */
function pushesText(outcomes: readonly HistoryOutcome[]): string {
  const tallies = outcomes.flatMap(({ host }) => host ?? [])
  const [first, ...others] = tallies
  if (first === undefined) return ''
  const all = { ...first }
  for (const tally of others) {
    for (const name of tallyNames) all[name] += tally[name]
  }
  return `

${tallies.length} of the histories had pushes to a fake GitHub: ${hostText(all)}.`
}

const tallyNames = ['pushes', 'merges', 'webhooks', 'lost', 'doubled', 'late', 'shuffled', 'kills'] as const

/** What the faults of the network did. */
function networkText(outcomes: readonly HistoryOutcome[]): string {
  const tallies = outcomes.flatMap(({ network }) => network ?? [])
  if (tallies.length === 0) return ''
  const lost = outcomes.map((outcome) => outcome.lost).reduce((sum, one) => sum + one, 0)
  const total = (of: (tally: NetworkTally) => number) => tallies.map(of).reduce((sum, one) => sum + one, 0)
  const slowestMs = Math.max(...tallies.map(({ slowestBackMs }) => slowestBackMs))
  return `

The services were on ${machineNames.length + 1} machines. ${total(({ lostPackets }) => lostPackets)} packets were lost and ${total(({ latePieces }) => latePieces)} pieces were late; ${total(({ lostConnections }) => lostConnections)} connections went silent for ever. ${lost} attempts were taken back from workers that were silent for longer than their lease. Services that were cut off for so long said ${total(({ asked }) => asked)} times that they are not ready. The slowest was ready again ${(slowestMs / 1000).toFixed(1)} s after the end of its cut.`
}

async function versionOf(program: string, args: readonly string[], pattern: RegExp): Promise<string> {
  const { stdout } = await execute(program, args).catch(() => ({ stdout: '' }))
  return pattern.exec(stdout)?.[1] ?? 'unknown'
}
