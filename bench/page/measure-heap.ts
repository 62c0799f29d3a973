import type { Page } from 'playwright-core'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { type BenchBrowser, untilWhole } from './bench-browser.ts'
import type { PlayedWorkers } from './play-workers.ts'

/** After a garbage collection, when so many more events had been shown. */
export type HeapSample = { events: number; heapBytes: number; nodes: number; listeners: number }
export type HeapFigures = { samples: HeapSample[]; seconds: number; faults: string[] }

export type HeapPlan = { link: string; operations: number; events: number; limitMs: number }

const steps = 10
/** The page keeps so many events, of those it has shown last. They come before the first sample. */
const keptEvents = 20_000
/** The page is never more events behind than so many. */
const mostBehind = 1_500
const pollMs = 10
/** Whoever is told nothing more for so long has missed something. */
const patienceMs = 60_000

const Metrics = z.object({ JSHeapUsedSize: z.number(), Nodes: z.number(), JSEventListeners: z.number() })

/** Notes the number of the last event that the stream has told: the length of the timeline says less, as the page reads that apart, too. */
const script = `
globalThis.told = 0
const parse = JSON.parse
JSON.parse = (text, reviver) => {
  const value = parse(text, reviver)
  if (typeof value?.event === 'string') told = value.seq
  return value
}
`
const readTold = async (page: Page) => z.number().parse(await page.evaluate('told'))

/**
 * Measures the page's memory in ten steps while it follows a run whose operations it has all read: as many events in each as are wanted, or as it takes
 * in a tenth of the time.
 */
export async function measureHeap(
  browser: BenchBrowser,
  workers: PlayedWorkers,
  { link, operations, events, limitMs }: HeapPlan,
): Promise<HeapFigures> {
  const startedAt = performance.now()
  const opened = await workers.seq()
  const { page, faults, close } = await browser.visit(link, script)
  await untilWhole(page, operations)
  await page.locator('.tabs a[href$="/timeline"]').click()
  const takeSample = await openSampler(page)
  const show = async (wanted: number, forMs: number) => {
    const until = performance.now() + forMs
    for (let seq = await workers.seq(); seq < wanted && performance.now() < until; seq = await workers.seq()) {
      if (seq - Math.max(opened, await readTold(page)) > mostBehind) await delay(pollMs)
      else await workers.burst()
    }
    const seq = await workers.seq()
    const patientUntil = performance.now() + patienceMs
    for (let told = await readTold(page); told < seq; told = await readTold(page)) {
      if (performance.now() > patientUntil) throw new Error(`the page was told of ${told} events of ${seq}`)
      await delay(pollMs)
    }
    await untilWhole(page, seq)
    return seq
  }
  const first = await show(opened + keptEvents, limitMs)
  const samples: HeapSample[] = [{ events: 0, ...(await takeSample()) }]
  for (let step = 1; step <= steps; step += 1) {
    const seq = await show(first + (step * events) / steps, limitMs / steps)
    samples.push({ events: seq - first, ...(await takeSample()) })
  }
  await close()
  return { samples, seconds: (performance.now() - startedAt) / 1_000, faults }
}

async function openSampler(page: Page): Promise<() => Promise<Omit<HeapSample, 'events'>>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    const read = Metrics.parse(Object.fromEntries(metrics.map(({ name, value }) => [name, value])))
    return { heapBytes: read.JSHeapUsedSize, nodes: read.Nodes, listeners: read.JSEventListeners }
  }
}
