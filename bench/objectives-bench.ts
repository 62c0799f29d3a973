import { parseArgs } from 'node:util'
import { openReleaser } from '#platform/service-process.ts'
import { conduct, type Decided, ofOneRun, ofProject, openObjectiveRuns, type Spent } from './remora/objective-runs.ts'
import { median, saveReport, sectionHead, table } from './reports/markdown-report.ts'

/**
 * `node bench/objectives-bench.ts`: how much of a budget operations in parallel use, and whether they ever hold more than it; what the decisions
 * about a run with an objective cost, without operations, and of 20 runs at once with 10,000. Redis and S3 are real, the model is the
 * rehearsal one, and workers only claim and settle. Writes results/objectives.md; with `--quick` it only prints less of it. Fails when a
 * budget is exceeded.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick ? { seeds: 1, runs: 2, perRun: 100 } : { seeds: 5, runs: 20, perRun: 500 }
const releaser = openReleaser()
const opened = await openObjectiveRuns(releaser)

const start = performance.now()
const spent: Spent[] = []
for (let seed = 1; seed <= scale.seeds; seed += 1)
  spent.push(await ofOneRun(opened, seed), await ofProject(opened, seed))
const single = [
  await conduct(opened, 'a simple objective', 'one', 20),
  await conduct(opened, 'two items', 'basic', 20),
  await conduct(opened, 'a plan that is made anew', 'replan', 20),
]
const many = await Promise.all(
  Array.from({ length: scale.runs }, () => conduct(opened, 'one of them', 'one', scale.perRun)),
)
const all = {
  operations: many.reduce((sum, { operations }) => sum + operations, 0),
  requests: many.reduce((sum, one) => sum + one.requests, 0),
  stepMs: many.flatMap(({ stepMs }) => stepMs),
}
const figure = (value: number) => Math.round(value).toLocaleString('en')
const text = [
  sectionHead('Runs with an objective', {
    command: 'node bench/objectives-bench.ts',
    redisVersion: /redis_version:(\S+)/.exec(await opened.redis.info('server'))?.[1] ?? 'unknown',
    tookMs: performance.now() - start,
  }),
  'Tokens of a budget, where requests are of 400 to 1,600 tokens and use a fifth to all of it, up to three in an operation, and one attempt in fifty is lost. The run waits',
  'when nothing more fits. "At most" is what was used and reserved together, looked at after each round.',
  '',
  table<Spent>(
    [
      ['budget', ({ what, limit }) => `${figure(limit)}, ${what}`],
      ['seed', ({ seed }) => seed],
      ['used', ({ used, limit }) => `${figure(used)}, ${((100 * used) / limit).toFixed(1)} %`],
      ['at most', ({ most }) => figure(most)],
      ['requests at once', ({ atOnce }) => atOnce],
      ['sent back for lack of tokens', ({ refused }) => figure(refused)],
    ],
    spent.toSorted((left, right) => right.limit - left.limit || left.seed - right.seed),
  ),
  '',
  'Decisions of the rehearsal model (no LLM), whose replies are by a script: what is counted are requests and prompts.',
  '',
  table<Decided>(
    [
      ['objective', ({ what }) => what],
      ['operations', ({ operations }) => operations],
      ['requests', ({ requests }) => requests],
      ['tokens', ({ tokens }) => figure(tokens)],
      ['a step, median', ({ stepMs }) => `${figure(median(stepMs))} ms`],
      ['longest', ({ stepMs }) => `${figure(Math.max(...stepMs))} ms`],
    ],
    single,
  ),
  '',
  `${many.length} such runs at once with ${figure(all.operations)} operations: ${all.requests} requests, ${figure(median(many.map(({ tokens }) => tokens)))} tokens each in the median; a step`,
  `took ${figure(median(all.stepMs))} ms in the median, ${figure(Math.max(...all.stepMs))} ms at most. \`remora verify\` finds nothing wrong in any of them.`,
].join('\n')
await saveReport('objectives', text, { quick })
const over = spent.filter(({ most, limit }) => most > limit)
if (over.length > 0) {
  console.error(`exceeded: ${JSON.stringify(over)}`)
  process.exitCode = 1
}
await releaser.release()
