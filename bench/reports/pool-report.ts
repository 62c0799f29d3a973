import type { Scenario, Simulated } from '../pool/simulate.ts'
import type { PolicyName } from '../pool/policies.ts'
import { type Column, table } from './markdown-report.ts'

type Row = { name: PolicyName; simulated: Simulated; base: Simulated | undefined }

const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['requests/s', ({ simulated }) => simulated.requestsPerS.toFixed(1)],
  [
    '× round robin',
    ({ simulated, base }) => (base === undefined ? '–' : (simulated.requestsPerS / base.requestsPerS).toFixed(2)),
  ],
  ['prefix hits', ({ simulated }) => `${(100 * simulated.hitRate).toFixed(0)} %`],
  ['busiest, over time', ({ simulated }) => simulated.busiest.overall.toFixed(2)],
  ['busiest, worst moment', ({ simulated }) => simulated.busiest.worst.toFixed(2)],
  ['p50', ({ simulated }) => seconds(simulated.latencyMs.p50)],
  ['p99', ({ simulated }) => seconds(simulated.latencyMs.p99)],
  ['longest', ({ simulated }) => seconds(simulated.latencyMs.most)],
  ['lost', ({ simulated }) => simulated.lost],
]

const aimColumns: readonly Column<Aim>[] = [
  ['aim', ({ what }) => what],
  ['missed with', ({ figure }) => figure],
]

/** results/pool.md */
export function renderPool(played: readonly Played[], aims: readonly Aim[]): string {
  const sections = played.map(({ title, why, scenario, by }) => {
    const base = scenario.faults === undefined ? baseOf(by) : undefined
    const rows = by.map(([name, simulated]): Row => ({ name, simulated, base }))
    return `## ${title}\n\n${why} ${shapeText(scenario)}\n\n${table(columns, rows)}\n`
  })
  return [head, ...sections, aimsText(aims)].join('\n')
}

/** The aims, and the figures of those that are missed: of the others the tables have them. */
function aimsText(aims: readonly Aim[]): string {
  const missed = aims.filter(({ isMet }) => !isMet)
  const total = `${aims.length - missed.length} of ${aims.length} aims are met, of "ours": no request lost, the busiest
replica at most ${mostLoad} × the mean over time, and at least ${leastGain} × round robin's requests per second with many bundles.`
  return `## Aims\n\n${total}\n${missed.length === 0 ? '' : `\n${table(aimColumns, missed)}\n`}`
}

const head = `# The pool over eight replicas, simulated

Written by \`node bench/pool-bench.ts\`: in one process, on a virtual clock, with seeds, so the figures are the same on every
machine. Queue, routing, limits, circuit breakers and retries are the pool's own code (\`models/pool/router.ts\`); servers,
network and time are simulated (\`bench/pool/\`). A replica runs 32 sequences at once and queues the rest, reads one prompt after
the other at 8,000 tokens/s (what its prefix cache holds costs nothing) and writes a token in 20 ms; its cache holds 24 prefixes
(3,000 tokens at 128 KiB each: 9 GiB) and evicts the least recently used. Busiest: the requests at the busiest replica divided by
the mean of all. A replica has 64 slots. "Ten workers": the same load through ten pools that know nothing of each other; each
counts only its own requests. Requests per second are those that were answered; a lost one ends at once. A policy without
retries, as the first two are, loses what a dead replica refuses; if it chooses the least loaded replica, that is nearly
everything.
`

function shapeText({ prefixes, request, concurrency, requests }: Scenario): string {
  const { prefixTokens, ownTokens, outputTokens } = request
  return `${requests} requests, ${concurrency} at once, ${prefixes} prefix${prefixes === 1 ? '' : 'es'} of ${prefixTokens} tokens, ${ownTokens} tokens of their own, ${outputTokens} written.`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

export type Played = { title: string; why: string; scenario: Scenario; by: readonly [PolicyName, Simulated][] }

/** The baseline of a table. */
function baseOf(by: Played['by']): Simulated | undefined {
  return by.find(([name]) => name === 'round robin')?.[1]
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

function judgeOne({ title, scenario, by }: Played): Aim[] {
  const [, simulated] = by.find(([name]) => name === judged) ?? []
  if (simulated === undefined) return []
  const { requestsPerS, busiest, lost } = simulated
  const what = `${title}, ${judged}:`
  const aims: Aim[] = [{ what: `${what} no request lost`, figure: String(lost), isMet: lost === 0 }]
  if (scenario.faults !== undefined) return aims
  const load = { figure: `${busiest.overall.toFixed(2)} ×`, isMet: busiest.overall <= mostLoad }
  aims.push({ what: `${what} busiest replica at most ${mostLoad} × the mean over time`, ...load })
  const gain = requestsPerS / (baseOf(by)?.requestsPerS ?? Infinity)
  if (scenario.prefixes === 1) return aims
  const ahead = { figure: `${gain.toFixed(2)} ×`, isMet: gain >= leastGain }
  return [...aims, { what: `${what} at least ${leastGain} × round robin's requests per second`, ...ahead }]
}
