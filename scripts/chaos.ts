import { parseArgs } from 'node:util'
import { bubblewrap, redisServer, ruff } from '#platform/known-programs.ts'
import { putProgramOnPath } from '#testing/put-program-on-path.ts'
import { recordChaos, totalsLine } from '../tests/chaos/chaos-report.ts'
import { lacksMachines } from '../tests/chaos/machines.ts'
import { runChaos } from '../tests/chaos/run-chaos.ts'

/**
 * `npm run chaos -- --seed N --runs K [--machines | --pushes | --objectives] [--record]`: plays K histories of random faults against real processes;
 * exit code 1 when one has violations. Without a seed one is drawn and printed. `--machines`: each service is in a network
 * namespace of its own, with faults of the network besides; exit code 2 where that cannot be. `--pushes`: every
 * history has pushes to a fake GitHub, not one in three. `--objectives`: in every history, not one in three, a conductor decides about the
 * runs. `--record` writes the totals to bench/results/chaos[-machines|-pushes|-objectives].md.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '10' },
    machines: { type: 'boolean', default: false },
    pushes: { type: 'boolean', default: false },
    objectives: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000))
const runs = wholeNumber('runs', values.runs)
const print = (line: string) => void process.stdout.write(`${line}\n`)
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())

const { machines } = values
/** Draws what is not asked for. */
const [pushes, objectives] = [values.pushes || undefined, values.objectives || undefined]
const lack = machines ? lacksMachines() : undefined
if (lack !== undefined) {
  process.stderr.write(`--machines cannot be played here: ${lack}\n`)
  process.exit(2)
}
await putProgramOnPath(redisServer, process.env, stop.signal)
await putProgramOnPath(ruff, process.env, stop.signal)
await putProgramOnPath(bubblewrap, process.env, stop.signal)
print(`chaos: seeds ${seed} to ${seed + runs - 1}, rehearsal model (no LLM)`)
const startedAt = performance.now()
const outcomes = await runChaos({ seed, runs, machines, pushes, objectives, print, signal: stop.signal })
print(totalsLine(outcomes))
if (values.record)
  print(
    `written: ${await recordChaos(outcomes, { seed, machines, pushes: values.pushes, objectives: values.objectives, tookMs: performance.now() - startedAt })}`,
  )
// An interrupted history would continue by itself.
process.exit(outcomes.some(({ violations }) => violations.length > 0) || outcomes.length < runs ? 1 : 0)

function wholeNumber(name: string, text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number
  process.stderr.write(`--${name} needs a whole number, not "${text}"\n`)
  process.exit(2)
}
