import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { type FakeModel, startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { measureRun } from './remora/measure-run.ts'
import { type Column, median, saveReport, sectionHead, spread, table, verdict } from './reports/markdown-report.ts'

/**
 * `node bench/traces-bench.ts`: what sending traces costs a worker, with and without a collector in turn. Writes
 * results/traces.md; with `--quick`, a smoke test, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick ? { operations: 200, warmup: 64, rounds: 1 } : { operations: 2000, warmup: 512, rounds: 5 }
const slots = 64
const aimShare = 0.03

type Collector = { endpoint: string; takeBytes(): number; close(): Promise<void> }

/** Takes everything and reads nothing of it. */
async function startCollector(): Promise<Collector> {
  let bytes = 0
  const server = createServer((request, response) => {
    request.on('data', (part: Buffer) => (bytes += part.length))
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${boundPort(server)}`,
    takeBytes() {
      const taken = bytes
      bytes = 0
      return taken
    },
    close: () => closeServer(server),
  }
}

type Measured = { cpu: number; bytes: number; faults: readonly string[] }
type Parts = { stack: BenchStack; model: FakeModel; collector: Collector }
let first = 0

/** Of a worker of its own, CPU ms of it and its scripts for each operation. */
async function measure({ stack, model, collector }: Parts, isTraced: boolean): Promise<Measured> {
  const env = isTraced ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint } : {}
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots, env })
  const parts = { stack, model, workerPid: worker.pid }
  const next = () => (first += 100_000)
  await measureRun(parts, next(), scale.warmup)
  collector.takeBytes()
  const { workerCpu, scriptCpu, operations, faults } = await measureRun(parts, next(), scale.operations)
  await worker.stop()
  return { cpu: (workerCpu + scriptCpu) / operations, bytes: collector.takeBytes() / operations, faults }
}

const startedAt = performance.now()
const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const collector = await startCollector()
const model = await startFakeModel()
const stack = await openBenchStack(dir)
const rounds: { off: Measured; on: Measured }[] = []
try {
  for (let round = 0; round < scale.rounds; round += 1) {
    const parts = { stack, model, collector }
    const before = round % 2 === 0 ? await measure(parts, false) : undefined
    const on = await measure(parts, true)
    const off = before ?? (await measure(parts, false))
    rounds.push({ off, on })
    console.log(`  without ${off.cpu.toFixed(3)}, with ${on.cpu.toFixed(3)} CPU ms`)
  }
} finally {
  await stack.close()
  await model.stop()
  await collector.close()
  await rm(dir, { recursive: true, force: true })
}

type Row = { name: string; values: readonly number[]; digits: number }
const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['', (row) => spread<Row>(({ values }) => values, row.digits)(row)],
]
const ratios = rounds.map(({ off, on }) => on.cpu / off.cpu)
const rows: Row[] = [
  { name: 'CPU ms for each operation, without a collector', values: rounds.map(({ off }) => off.cpu), digits: 2 },
  { name: 'with one', values: rounds.map(({ on }) => on.cpu), digits: 2 },
  { name: 'with, against without, in the same round', values: ratios, digits: 3 },
  { name: 'bytes sent for each operation', values: rounds.map(({ on }) => on.bytes), digits: 0 },
]
const faults = rounds.flatMap(({ off, on }) => [...off.faults, ...on.faults])
const head = {
  command: 'node bench/traces-bench.ts',
  tookMs: performance.now() - startedAt,
  redisVersion: stack.redisVersion,
}
await saveReport(
  'traces',
  `${sectionHead('What traces cost', head)}
The operations of "What one operation costs" (three turns, two tools; ${scale.operations}, ${slots} at once; no model), by a worker without a collector
and one with it in turn, all runs traced: 9 spans for each operation. CPU is that of the worker and its scripts. The collector takes
everything and reads nothing. Medians (least–most) of ${scale.rounds} rounds. ${faults.length === 0 ? 'Every run was proved.' : `NOT PROVED: ${faults.join('; ')}`}

${table(columns, rows)}

The aim is at most 3 % more: ${verdict(median(ratios) <= 1 + aimShare)}.
`,
  { quick },
)
process.exitCode = faults.length === 0 ? 0 : 1
