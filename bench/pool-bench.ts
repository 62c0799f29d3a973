import { mkdir, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { policyNames } from './pool/policies.ts'
import { renderPool, type Played } from './pool/render-pool.ts'
import { faulty, manyBundles, shortPrefixes, singleBundle } from './pool/scenarios.ts'
import { simulate, type Scenario } from './pool/simulate.ts'

/**
 * `node bench/pool-bench.ts`: requests per second and prefix hits of round robin, least loaded and the pool over eight
 * simulated replicas. Writes results/pool.md; with `--quick` it only prints, of a quarter of the requests. Fails when the
 * pool is below 1.5 times round robin with many bundles, a replica above 1.25 times the mean, or a request is lost.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values

async function play(title: string, why: string, full: Scenario, policies: readonly (typeof policyNames)[number][]) {
  const scenario = quick ? quarterOf(full) : full
  const by: [(typeof policyNames)[number], Awaited<ReturnType<typeof simulate>>][] = []
  for (const name of policies) by.push([name, await simulate(name, scenario)])
  return { title, why, scenario, by }
}

function quarterOf(scenario: Scenario): Scenario {
  const faults = (scenario.faults ?? []).map((fault) => ({ ...fault, after: fault.after / 4 }))
  return { ...scenario, requests: scenario.requests / 4, faults }
}

const played: Played[] = [
  await play(
    'Many bundles',
    'Beginnings are used unevenly: by their rank to the power of -0.8.',
    manyBundles,
    policyNames,
  ),
  await play('Many bundles, short beginnings', 'The same where they are short.', shortPrefixes, policyNames),
  await play('One bundle', 'All requests begin alike, so every cache knows them.', singleBundle, policyNames),
  await play(
    'A replica dies, another is slow',
    'Many bundles; after a quarter of the requests one replica refuses all, after half of them another writes five times slower.',
    faulty,
    ['ours', 'ours, with metrics'],
  ),
]
const text = renderPool(played)
const results = new URL('results/', import.meta.url)
await mkdir(results, { recursive: true })
if (quick) console.log(text)
else await writeFile(new URL('pool.md', results), text)

const [many] = played
const [base, ours] = [many?.by[0]?.[1], many?.by[2]?.[1]]
const isAhead = base !== undefined && ours !== undefined && ours.requestsPerS >= 1.5 * base.requestsPerS
const isEven = ours !== undefined && ours.busiest.overall <= 1.25
if (!isAhead || !isEven || played.some(({ by }) => by.some(([, { lost }]) => lost > 0))) process.exitCode = 1
