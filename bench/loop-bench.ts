import { parseArgs } from 'node:util'
import { clientRunner, floorRunner, frameworkRunners, ourRunner } from './peers/run-peer.ts'
import { installFrameworks, type LoopScale, measureRounds, profileLoop } from './peers/loop-rounds.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderAreas, renderLoop } from './reports/loop-report.ts'

/**
 * `node bench/loop-bench.ts`: what our loop with its model pool costs per agent, compared with the least loop, the bare
 * client and three frameworks; and how busy it keeps a model of 200 ms. Writes results/loop.md; with `--quick` it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 256
const fast: LoopScale = quick
  ? { agents: 200, warmup: 64, rounds: 1, concurrency: 16, latencyMs: 0 }
  : { agents: 2000, warmup: 256, rounds: 3, concurrency: 64, latencyMs: 0 }
/** Agents are a multiple of the slots, so that the bare loop has no half-empty last cohort; a warm-up would end in one. */
const slow: LoopScale = quick
  ? { agents: 2 * slots, warmup: 0, rounds: 1, concurrency: slots, latencyMs: 200 }
  : { agents: 12 * slots, warmup: 0, rounds: 3, concurrency: slots, latencyMs: 200 }

installFrameworks()
const fastRows = await measureRounds([floorRunner, ourRunner, clientRunner, ...frameworkRunners], fast)
const slowRows = await measureRounds([floorRunner, ourRunner, clientRunner], slow)
console.log('profiled round')
console.log(renderAreas(await profileLoop(fast)))
const text = renderLoop({ scale: fast, rows: fastRows }, { scale: slow, rows: slowRows })
await saveReport('loop', text, { quick })
const measured = [...fastRows, ...slowRows].flatMap((row) => row.measured)
process.exitCode = measured.every(({ faults }) => faults.length === 0) ? 0 : 1
