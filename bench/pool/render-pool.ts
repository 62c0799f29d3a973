import type { Aim } from './judge-aims.ts'
import { baseOf, type Played } from './played.ts'
import type { Scenario, Simulated } from './simulate.ts'

export function renderPool(played: readonly Played[], aims: readonly Aim[]): string {
  const sections = played.flatMap(({ title, why, scenario, by }) => [
    `## ${title}`,
    '',
    `${why} ${shapeText(scenario)}`,
    '',
    '| | requests/s | × round robin | prefix hits | busiest, over time | busiest, worst moment | p50 | p99 | longest | lost |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...by.map(([name, simulated]) => row(name, simulated, scenario.faults === undefined ? baseOf(by) : undefined)),
    '',
  ])
  const judged = aims.map(({ what, figure, isMet }) => `| ${what} | ${figure} | ${isMet ? 'met' : '**missed**'} |`)
  const table = ['## Aims', '', '| aim | measured | |', '| --- | --- | --- |', ...judged]
  return `${head}\n${[...sections, ...table].join('\n')}\n`
}

const head = `# The pool over eight replicas, simulated

Written by \`node bench/pool-bench.ts\`: in one process, on a virtual clock, with seeds, so the figures are the same on every
machine. Line, routing, limits, breakers and retries are the pool's own code (\`core/models/pool/router.ts\`); servers, network
and time are simulated (\`bench/pool/\`). A replica works on 32 sequences at once and lets the rest wait, reads one prompt
after the other at 8,000 tokens/s (what its prefix cache holds costs nothing) and writes a token in 20 ms; its cache keeps
24 beginnings (3,000 tokens at 128 KiB each: 9 GiB), the least lately used goes. Busiest: the requests at the busiest
replica against the mean of all. The limits of a replica are 64 requests. "With metrics": the servers say how many requests
wait inside them, and those where many do are sent fewer for a while. "Ten workers": the same load through ten pools that
know nothing of each other but what the servers say; each counts only its own requests. Requests per second are those that
were answered; a lost one is over at once. A policy that tries nothing again, as the first two, loses what a dead replica
refuses; where it goes to the least loaded, that is nearly everything.
`

function shapeText({ prefixes, request, concurrency, requests }: Scenario): string {
  const { prefixTokens, ownTokens, outputTokens } = request
  return `${requests} requests, ${concurrency} at once, ${prefixes} beginning${prefixes === 1 ? '' : 's'} of ${prefixTokens} tokens, ${ownTokens} tokens of their own, ${outputTokens} written.`
}

function row(
  name: string,
  { requestsPerS, hitRate, busiest, latencyMs, lost }: Simulated,
  base: Simulated | undefined,
) {
  const ratio = base === undefined ? '–' : (requestsPerS / base.requestsPerS).toFixed(2)
  const seconds = [latencyMs.p50, latencyMs.p99, latencyMs.most].map((ms) => `${(ms / 1000).toFixed(1)} s`)
  const loads = [busiest.overall, busiest.worst].map((times) => times.toFixed(2))
  return `| ${[name, requestsPerS.toFixed(1), ratio, `${(100 * hitRate).toFixed(0)} %`, ...loads, ...seconds, lost].join(' | ')} |`
}
