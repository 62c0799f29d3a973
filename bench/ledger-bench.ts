import { mkdir, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import {
  type CommandFigures,
  measureCommands,
  measurePlainHashes,
  measurePlan,
  measureWaiting,
  pairsOf,
} from './ledger/measure-redis.ts'
import { measureMemory, memoryCurve } from './ledger/memory-curve.ts'
import { openBenchLedger, redisVersion } from './ledger/bench-ledger.ts'
import { operationsPerFile, plannedOperations } from './ledger/played-run.ts'
import { saveReport } from './reports/markdown-report.ts'
import { meetsAims, renderLedger, type LedgerFigures } from './reports/ledger-report.ts'

/**
 * `node bench/ledger-bench.ts`: what planning, the commands of an operation and a whole run cost Redis, in time and
 * memory, compared with the cheapest way to write the same bytes. Writes results/ledger.md next to this file and
 * docs/images/redis-memory.svg; with `--quick`, a smoke test, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick
  ? { planned: 5_000, settled: 500, waiting: 200, rounds: 1 }
  : { planned: 100_000, settled: 6_000, waiting: 1_000, rounds: 3 }

async function measurePlans(): Promise<LedgerFigures['plans']> {
  const operations = plannedOperations(scale.planned / operationsPerFile)
  const plans: LedgerFigures['plans'] = []
  for (let round = 0; round < scale.rounds; round++) {
    const floor = await measurePlainHashes(operations)
    const ledger = await measurePlan(operations)
    console.log(
      `  plan: ${ledger.wallMs.toFixed(0)} ms, ${ledger.bytesPerOperation.toFixed(0)} bytes; floor ${floor.wallMs.toFixed(0)} ms`,
    )
    plans.push({ ledger, floor })
  }
  return plans
}

async function measureAllCommands(): Promise<CommandFigures[]> {
  const files = Math.ceil((2 * scale.settled) / (operationsPerFile - 1))
  const pairs = pairsOf(plannedOperations(files)).slice(0, 2 * scale.settled)
  const rounds: CommandFigures[] = []
  for (let round = 0; round < scale.rounds; round++) {
    const figures = await measureCommands(pairs)
    const { settle, floor } = figures
    console.log(`  settle: ${settle.commandMs.toFixed(3)} ms; floor ${floor.commandMs.toFixed(3)} ms`)
    rounds.push(figures)
  }
  return rounds
}

async function measureCurves(): Promise<LedgerFigures['memory']> {
  const operations = plannedOperations(scale.planned / operationsPerFile)
  const lines = [
    { name: 'events archived', archive: true },
    { name: 'all events kept in Redis', archive: false },
  ]
  const memory: LedgerFigures['memory'] = []
  for (const line of lines) {
    const figures = await measureMemory(operations, line)
    console.log(`  run, ${line.name}: ${(figures.wallMs / 1000).toFixed(0)} s`)
    memory.push(figures)
  }
  return memory
}

async function versionOfRedis(): Promise<string> {
  const bench = await openBenchLedger({ archive: false })
  const version = await redisVersion(bench.redis)
  await bench.close()
  return version
}

const figures: LedgerFigures = {
  ...scale,
  redisVersion: await versionOfRedis(),
  plans: await measurePlans(),
  commands: await measureAllCommands(),
  memory: await measureCurves(),
  waiting: await measureWaiting(plannedOperations(scale.waiting / operationsPerFile + 1)),
}
const text = renderLedger(figures)
await saveReport('ledger', text, { quick })
if (!quick) {
  const images = new URL('../docs/images/', import.meta.url)
  await mkdir(images, { recursive: true })
  const title = `Redis' memory over a run of ${scale.planned.toLocaleString('en')} operations`
  const curve = memoryCurve({ title, lines: figures.memory, operations: scale.planned })
  await writeFile(new URL('redis-memory.svg', images), curve)
}
if (!meetsAims(figures)) console.log('The aims are missed.')
