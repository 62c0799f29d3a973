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
 * `node bench/traces-bench.ts`: what sending traces costs a worker: without a collector, with the usual share of operations, and with all. Writes
 * results/traces.md; with `--quick`, a smoke test, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick ? { operations: 200, warmup: 64, rounds: 1 } : { operations: 2000, warmup: 512, rounds: 12 }
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

const ways = ['off', 'usual', 'all'] as const
type Way = (typeof ways)[number]
type Measured = { cpu: number; bytes: number; faults: readonly string[] }
type Parts = { stack: BenchStack; model: FakeModel; collector: Collector }
let first = 0

/** Of a worker of its own, CPU ms of it and its scripts for each operation. */
async function measure({ stack, model, collector }: Parts, way: Way): Promise<Measured> {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }
  const env = { off: {}, usual: endpoint, all: { ...endpoint, REMORA_TRACES_OPERATIONS: '1' } }[way]
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
const rounds: Record<Way, Measured>[] = []
try {
  for (let round = 0; round < scale.rounds; round += 1) {
    const none = { cpu: 0, bytes: 0, faults: [] }
    const measured: Record<Way, Measured> = { off: none, usual: none, all: none }
    // Each is the first in turn.
    for (const at of ways.keys()) {
      const way = ways[(round + at) % ways.length] ?? 'off'
      measured[way] = await measure({ stack, model, collector }, way)
    }
    rounds.push(measured)
    console.log(`  ${ways.map((way) => `${way} ${measured[way].cpu.toFixed(3)}`).join(', ')} CPU ms`)
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
const against = (way: Way) => rounds.map((round) => round[way].cpu / round.off.cpu)
const cpu = (way: Way) => rounds.map((round) => round[way].cpu)
const bytes = (way: Way) => rounds.map((round) => round[way].bytes)
const rows: Row[] = [
  { name: 'CPU ms for each operation, without a collector', values: cpu('off'), digits: 2 },
  { name: 'with one, a tenth of the operations', values: cpu('usual'), digits: 2 },
  { name: 'with one, all of them', values: cpu('all'), digits: 2 },
  { name: 'a tenth, against without, in the same round', values: against('usual'), digits: 3 },
  { name: 'all, against without, in the same round', values: against('all'), digits: 3 },
  { name: 'bytes sent for each operation, a tenth', values: bytes('usual'), digits: 0 },
  { name: 'bytes sent for each operation, all', values: bytes('all'), digits: 0 },
]
const faults = rounds.flatMap((round) => ways.flatMap((way) => round[way].faults))
const head = {
  command: 'node bench/traces-bench.ts',
  tookMs: performance.now() - startedAt,
  redisVersion: stack.redisVersion,
}
await saveReport(
  'traces',
  `${sectionHead('What traces cost', head)}
The operations of "What one operation costs" (three turns, two tools; ${scale.operations}, ${slots} at once; no model), by a worker without a
collector, one with the usual share of operations (\`REMORA_TRACES_OPERATIONS\`, 0.1) and one with all, in turn; all runs are traced: 9 spans
for each operation that is. CPU is that of the worker and its scripts. Medians
(least–most) of ${scale.rounds} rounds. ${faults.length === 0 ? 'Every run was proved.' : `NOT PROVED: ${faults.join('; ')}`}

${table(columns, rows)}

The aim is at most 3 % more: ${verdict(median(against('usual')) <= 1 + aimShare)} with the usual share, ${verdict(median(against('all')) <= 1 + aimShare)} with all.
`,
  { quick },
)
process.exitCode = faults.length === 0 ? 0 : 1
