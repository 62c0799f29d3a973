import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isEnded } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import { saveReport } from './reports/markdown-report.ts'
import { type MemorySample, renderMemory } from './reports/memory-report.ts'
import { startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { type BenchWorker, startBenchWorker } from './remora/bench-worker.ts'
import { planRun, startRun } from './remora/plan-run.ts'

/**
 * `node bench/memory-bench.ts`: whether a worker's memory stays flat over 10,000 operations. Writes results/memory.md;
 * with `--quick` it only prints, of 1,000.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 256
const scale = quick
  ? { operations: 1_000, warmup: 500, settledAfter: 250 }
  : { operations: 10_000, warmup: 1_000, settledAfter: 2_000 }
const samplesEvery = 250
const pollMs = 20

/** Runs `count` operations and calls `onStep` when another `samplesEvery` of them have ended. */
async function runOperations(
  stack: BenchStack,
  { first, count }: { first: number; count: number },
  onStep: (ended: number) => Promise<void>,
): Promise<void> {
  const runId = await planRun(stack, { first, count })
  await startRun(stack, runId)
  for (let next = samplesEvery; ; await delay(pollMs)) {
    const { counts, phase, status } = await stack.ledger.getRun(runId)
    const ended = counts.succeeded + counts.failed + counts.unchanged + counts.blocked
    if (ended >= next) {
      await onStep(ended)
      next = ended - (ended % samplesEvery) + samplesEvery
    }
    if (phase !== 'execution' || isEnded(status)) break
  }
  const { counts } = await stack.ledger.getRun(runId)
  if (counts.succeeded !== count) faults.push(`${counts.succeeded} of ${count} operations succeeded`)
}

async function measure(stack: BenchStack, worker: BenchWorker, heapFile: string): Promise<MemorySample[]> {
  const samples: MemorySample[] = []
  await runOperations(stack, { first: 0, count: scale.warmup }, async () => {})
  await runOperations(stack, { first: 1_000_000, count: scale.operations }, async (ended) => {
    samples.push(await sampleMemory(worker.pid, heapFile, ended))
  })
  return samples
}

const HeapLine = z.tuple([z.coerce.number(), z.coerce.number()])
const heapPollMs = 5

/** Asks the process `pid`, which heap-probe.ts was loaded into, to collect its garbage and say what is left. */
async function sampleMemory(pid: number, heapFile: string, operations: number): Promise<MemorySample> {
  const before = (await linesOf(heapFile)).length
  process.kill(pid, 'SIGUSR2')
  let lines = await linesOf(heapFile)
  while (lines.length === before) {
    await delay(heapPollMs)
    lines = await linesOf(heapFile)
  }
  const [heapBytes, externalBytes] = HeapLine.parse(lines.at(-1)?.split(' '))
  return { operations, residentBytes: residentBytes(pid), heapBytes, externalBytes }
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
}

/** Reads /proc, so on Linux only. */
function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

const faults: string[] = []
const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const heapFile = join(dir, 'heap.txt')
await writeFile(heapFile, '')
const model = await startFakeModel({ latencyMs: { least: 0, most: 50 }, slots })
const stack = await openBenchStack(dir)
try {
  const worker = await startBenchWorker(stack, {
    modelUrl: model.url,
    slots,
    nodeOptions: ['--expose-gc', '--import', fileURLToPath(new URL('remora/heap-probe.ts', import.meta.url))],
    env: { REMORA_BLOB_CACHE_BYTES: String(2 ** 20), REMORA_BENCH_HEAP_FILE: heapFile },
  })
  const samples = await measure(stack, worker, heapFile)
  await worker.stop()
  const text = renderMemory({ ...scale, slots, redisVersion: stack.redisVersion, samples, faults })
  await saveReport('memory', text, { quick })
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
