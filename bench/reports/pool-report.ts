import type { Scenario, Simulated } from '../pool/simulate.ts'
import type { PolicyName } from '../pool/policies.ts'
import { type Column, table } from './markdown-report.ts'

const perS = (policy: PolicyName) => (played: Played) => simulatedOf(played, policy).requestsPerS.toFixed(1)
const hits = ({ hitRate }: Simulated) => `${(100 * hitRate).toFixed(0)} %`
const p99 = ({ latencyMs }: Simulated) => `${(latencyMs.p99 / 1000).toFixed(1)} s`
const change = (figure: (simulated: Simulated) => string) => (played: Played) =>
  `${figure(simulatedOf(played, 'round robin'))} → ${figure(simulatedOf(played, 'ours'))}`

const columns: readonly Column<Played>[] = [
  ['requests/s', ({ title }) => title],
  ['round robin', perS('round robin')],
  ['least loaded', perS('least loaded')],
  ['ours', (played) => `**${perS('ours')(played)}**`],
  ['ten workers', perS('ours, ten workers')],
  ['prefix hits', change(hits)],
  ['busiest of ours', (played) => simulatedOf(played, 'ours').busiest.overall.toFixed(2)],
  ['p99', change(p99)],
  [
    'lost',
    ({ by }) =>
      by
        .slice(0, 3)
        .map(([, { lost }]) => lost)
        .join(', '),
  ],
]

const aimColumns: readonly Column<Aim>[] = [
  ['aim', ({ what }) => what],
  ['missed with', ({ figure }) => figure],
]

/** results/pool.md */
export function renderPool(played: readonly [Played, ...Played[]], aims: readonly Aim[]): string {
  const { requests, concurrency, request } = played[0].scenario
  return `${head}
${requests} requests, ${concurrency} at once, each with ${request.ownTokens} tokens of its own and ${request.outputTokens} written; prefix hits and p99 of round robin → ours, lost in the order of the
columns.

${played.map(({ title, why }) => `- ${title}: ${why}`).join('\n')}

${table(columns, played)}

${aimsText(aims)}`
}

/** The aims, and the figures of those that are missed: of the others the tables have them. */
function aimsText(aims: readonly Aim[]): string {
  const missed = aims.filter(({ isMet }) => !isMet)
  const total = `${aims.length - missed.length} of ${aims.length} aims are met, of "ours": no request lost, the busiest
replica at most ${mostLoad} × the mean over time, and at least ${leastGain} × round robin's requests per second with many bundles.`
  return `${total}\n${missed.length === 0 ? '' : `\n${table(aimColumns, missed)}\n`}`
}

const head = `# The pool over eight replicas, simulated

Written by \`node bench/pool-bench.ts\`: in one process, on a virtual clock, with seeds, so the figures are the same on every
machine. Queue, routing, limits, circuit breakers and retries are the pool's own code; servers, network and time are simulated
(\`bench/pool/\`). A replica has 64 slots and runs 32 sequences at once; it reads 8,000 tokens/s, of which what its prefix cache holds costs
nothing, and writes a token in 20 ms; its cache holds 24 prefixes of 3,000 tokens. Busiest: the requests at the busiest replica over time,
divided by the mean of all. "Ten workers": the same load through ten pools that know nothing of each other. The first two policies have no
retries: they lose what a dead replica refuses.
`

export type Played = { title: string; why: string; scenario: Scenario; by: readonly [PolicyName, Simulated][] }

function simulatedOf({ title, by }: Played, policy: PolicyName): Simulated {
  const [, simulated] = by.find(([name]) => name === policy) ?? []
  if (simulated === undefined) throw new Error(`${title}: ${policy} was not simulated`)
  return simulated
}

type Aim = { what: string; figure: string; isMet: boolean }

const judged: PolicyName = 'ours'
const leastGain = 1.5
const mostLoad = 1.25

/**
 * The pool's aims: 1.5 times the requests per second of round robin with many bundles, no replica above 1.25 times the mean
 * load over time unless one fails, and no request lost.
 */
export function judgeAims(played: readonly Played[]): Aim[] {
  return played.flatMap(judgeOne)
}

function judgeOne(played: Played): Aim[] {
  const { title, scenario } = played
  const { requestsPerS, busiest, lost } = simulatedOf(played, judged)
  const what = `${title}, ${judged}:`
  const aims: Aim[] = [{ what: `${what} no request lost`, figure: String(lost), isMet: lost === 0 }]
  if (scenario.faults !== undefined) return aims
  const load = { figure: `${busiest.overall.toFixed(2)} ×`, isMet: busiest.overall <= mostLoad }
  aims.push({ what: `${what} busiest replica at most ${mostLoad} × the mean over time`, ...load })
  const gain = requestsPerS / simulatedOf(played, 'round robin').requestsPerS
  if (scenario.prefixes === 1) return aims
  const ahead = { figure: `${gain.toFixed(2)} ×`, isMet: gain >= leastGain }
  return [...aims, { what: `${what} at least ${leastGain} × round robin's requests per second`, ...ahead }]
}
