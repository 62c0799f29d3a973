import { parseArgs } from 'node:util'
import { policyNames } from './pool/policies.ts'
import { saveReport } from './reports/markdown-report.ts'
import { judgeAims, type Played, renderPool } from './reports/pool-report.ts'
import { faulty, hanging, manyBundles, moreBundles, shortPrefixes, singleBundle } from './pool/scenarios.ts'
import { simulate, type Scenario } from './pool/simulate.ts'

/**
 * `node bench/pool-bench.ts`: requests per second and prefix hits of round robin, least loaded and the pool over eight
 * simulated replicas. Writes results/pool.md; with `--quick` it runs a quarter of the requests and only prints. Fails when an
 * aim is missed.
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

const played: [Played, ...Played[]] = [
  await play(
    'Many bundles',
    '160 prefixes of 3,000 tokens, used unevenly: by their rank to the power of -0.8.',
    manyBundles,
    policyNames,
  ),
  await play('More bundles than the caches hold', '400 prefixes, while the caches hold 192.', moreBundles, policyNames),
  await play('Many bundles, short prefixes', 'Prefixes of 600 tokens.', shortPrefixes, policyNames),
  await play('One bundle', 'One prefix, so every cache holds it.', singleBundle, policyNames),
  await play(
    'A replica dies, another is slow',
    'After a quarter of the requests one replica refuses all, after half of them another writes five times slower.',
    faulty,
    policyNames,
  ),
  await play(
    'A replica hangs',
    'After a quarter of the requests one replica answers none: the time limit of 120 s ends each.',
    hanging,
    policyNames,
  ),
]
const aims = judgeAims(played)
const text = renderPool(played, aims)
await saveReport('pool', text, { quick })

for (const { what, figure } of aims.filter(({ isMet }) => !isMet)) console.error(`missed: ${what} ${figure}`)
if (aims.some(({ isMet }) => !isMet)) process.exitCode = 1
