import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { Run } from '#domain/run.ts'
import { sourceFolder } from '../tests/source-folder.ts'
import { dataBytes, settledBytes } from './ledger/bench-ledger.ts'
import { followRun, verifyRun } from './remora/follow-run.ts'
import { type CpuByPart, parts, startWholeSystem, type WholeSystem } from './remora/whole-system.ts'
import { growthChart, type GrowthFigures, renderGrowth } from './reports/growth-report.ts'
import { median, saveReport } from './reports/markdown-report.ts'

/**
 * `node bench/growth-bench.ts`: runs of 1,000, 10,000 and 100,000 operations through the whole system with a model that takes
 * no time, each in stores and processes of its own. Writes results/growth.md and docs/images/growth.svg; with `--quick` it only
 * prints, for 100 and 1,000.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const sizes = quick ? [100, 1_000] : [1_000, 10_000, 100_000]
const functionsPerFile = 20
const slots = 64
const pollMs = 250
const reads = 15
const pageSize = 100

const Page = z.object({ operations: z.array(z.unknown()), next: z.string().nullable() })

const range = (length: number) => [...Array(length).keys()]

/** Functions without a docstring, of which each is one operation that changes its file. */
function sourceFile(file: number): string {
  return range(functionsPerFile)
    .map((at) => `def price_${file}_${at}(item, count):\n    total = item.price * count\n    return total + ${at}\n`)
    .join('\n\n')
}

async function submit({ services }: WholeSystem, operations: number): Promise<string> {
  const files = range(Math.ceil(operations / functionsPerFile))
  const folder = await sourceFolder(
    Object.fromEntries(files.map((at) => [`shop/part_${Math.floor(at / 100)}/module_${at}.py`, sourceFile(at)])),
  )
  try {
    return await services.api.submit(await folder.pack(), { agents: ['docstring'], limits: { operations } })
  } finally {
    await folder.remove()
  }
}

/** Median ms of an answer, read to its end. */
async function timed({ services }: WholeSystem, path: string, times = reads): Promise<number> {
  const took: number[] = []
  for (let read = 0; read < times; read++) {
    const startedAt = performance.now()
    const answer = await services.api.ask(path)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    took.push(performance.now() - startedAt)
  }
  return median(took)
}

/** The cursor of the last page of operations. */
async function lastCursor({ services }: WholeSystem, base: string): Promise<string> {
  let last = ''
  for (let next: string | null = ''; next !== null;) {
    last = next
    const query: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`
    next = Page.parse(await (await services.api.ask(`${base}/operations?limit=500${query}`)).json()).next
  }
  return last === '' ? '' : `&cursor=${encodeURIComponent(last)}`
}

async function measure(operations: number): Promise<{ figures: GrowthFigures; redisVersion: string }> {
  const system = await startWholeSystem({ slots })
  try {
    const emptyBytes = await settledBytes(system.redis)
    const before = await system.moment()
    const runId = await submit(system, operations)
    const base = `/v1/runs/${runId}`
    let redisPeak = 0
    let liveMs = Number.NaN
    const onPoll = async ({ counts }: Run) => {
      redisPeak = Math.max(redisPeak, await dataBytes(system.redis))
      const isHalfDone = counts.succeeded >= operations / 2 && counts.succeeded < operations
      if (isHalfDone && Number.isNaN(liveMs)) liveMs = await timed(system, base)
    }
    const { state, reached } = await followRun(system, runId, { pollMs, onPoll })
    const at = (phase: string) => reached.get(phase) ?? before
    const [end, review] = [at('ended'), reached.get('review') ?? at('ended')]
    const spent = (from: CpuByPart, to: CpuByPart) =>
      Object.fromEntries(parts.map((part) => [part, to[part] - from[part]] as const))
    const { ms: verifyMs, fault } = await verifyRun(system, runId)
    const done = state.counts.succeeded
    const figures: GrowthFigures = {
      operations,
      wallMs: end.atMs - before.atMs,
      cpu: spent(before.cpu, end.cpu),
      compositionCpuMs: end.cpu.worker - review.cpu.worker,
      compositionMs: end.atMs - review.atMs,
      redisPeakBytes: redisPeak - emptyBytes,
      redisEndBytes: (await settledBytes(system.redis)) - emptyBytes,
      liveMs,
      runMs: await timed(system, base),
      firstPageMs: await timed(system, `${base}/operations?limit=${pageSize}`),
      lastPageMs: await timed(system, `${base}/operations?limit=${pageSize}${await lastCursor(system, base)}`),
      failedPageMs: await timed(system, `${base}/operations?status=failed`),
      patchMs: await timed(system, `${base}/patch`, 3),
      verifyMs,
      faults: [
        ...(state.status === 'completed' && done === operations
          ? []
          : [`${operations}: ${state.status}, ${done} done`]),
        ...fault,
      ],
    }
    console.log(JSON.stringify(figures))
    return { figures, redisVersion: system.redisVersion }
  } finally {
    await system.close()
  }
}

const startedAt = performance.now()
const measured: Awaited<ReturnType<typeof measure>>[] = []
for (const size of sizes) measured.push(await measure(size))
const figures = measured.map((one) => one.figures)
const redisVersion = measured[0]?.redisVersion ?? ''
await saveReport('growth', renderGrowth(figures, { redisVersion, slots, tookMs: performance.now() - startedAt }), {
  quick,
})
const images = new URL('../docs/images/', import.meta.url)
if (!quick) await writeFile(new URL('growth.svg', images), growthChart(figures))
process.exitCode = figures.every(({ faults }) => faults.length === 0) ? 0 : 1
