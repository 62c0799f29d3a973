import type { Page } from 'playwright-core'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { type BenchBrowser, untilWhole } from './bench-browser.ts'
import type { PlayedWorkers } from './play-workers.ts'

/** The parts of an interaction in ms: until a handler ran, in handlers, and until what they changed was drawn. */
type Parts = { waitedMs: number; handledMs: number; drawnMs: number }
/** `ms`: the longest of the events that the browser counts as this interaction; 16 where it was shorter, which is not told. */
export type Interaction = Parts & { name: string; ms: number }
export type PageWork = { longTasks: number; longMs: number; longestMs: number; frames: number; slowFrames: number }
export type Interactions = PageWork & { interactions: Interaction[]; seconds: number; events: number; faults: string[] }

export type InteractionPlan = { link: string; operations: number; rounds: number; rate: number }

const leastMs = 16
const stepMs = 1_000
const wheelEveryMs = 50
const wheelPixels = 300
/** The browser tells of what took long somewhat later. */
const restMs = 1_000

const script = `
globalThis.seen = { events: [], longTasks: 0, longMs: 0, longestMs: 0, frames: 0, slowFrames: 0 }
new PerformanceObserver((list) => {
  for (const { startTime, processingStart, processingEnd, duration, interactionId } of list.getEntries())
    if (interactionId > 0)
      seen.events.push({
        at: performance.timeOrigin + startTime,
        ms: duration,
        waitedMs: processingStart - startTime,
        handledMs: processingEnd - processingStart,
        drawnMs: startTime + duration - processingEnd,
      })
}).observe({ type: 'event', durationThreshold: ${leastMs} })
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    seen.longTasks += 1
    seen.longMs += duration
    seen.longestMs = Math.max(seen.longestMs, duration)
  }
}).observe({ type: 'longtask' })
let before
const frame = (at) => {
  seen.frames += 1
  if (at - before > 50) seen.slowFrames += 1
  before = at
  requestAnimationFrame(frame)
}
requestAnimationFrame(frame)
`

const Seen = z.object({
  events: z.array(
    z.object({ at: z.number(), ms: z.number(), waitedMs: z.number(), handledMs: z.number(), drawnMs: z.number() }),
  ),
  longTasks: z.number(),
  longMs: z.number(),
  longestMs: z.number(),
  frames: z.number(),
  slowFrames: z.number(),
})
const readSeen = async (page: Page) => Seen.parse(await page.evaluate('seen'))

type Act = (page: Page) => Promise<void>
type Step = readonly [name: string, act: Act]

const key =
  (name: string): Act =>
  (page) =>
    page.keyboard.press(name)

/** Clicks near the left end of what may not stand still, as rows do not. */
const click =
  (selector: string): Act =>
  async (page) => {
    const box = await page.locator(selector).first().boundingBox()
    if (box === null) throw new Error(`${selector} is not to be seen`)
    await page.mouse.click(box.x + Math.min(12, box.width / 2), box.y + box.height / 2)
  }

const Point = z.object({ x: z.number(), y: z.number() })

/** Clicks on what is in a row at the middle of the list. */
const clickRow =
  (selector: string): Act =>
  async (page) => {
    await page.locator(selector).first().waitFor()
    const { x, y } = Point.parse(
      await page.evaluate(`(() => {
        const list = document.querySelector('.virtual-list').getBoundingClientRect()
        const boxes = [...document.querySelectorAll('${selector}')].map((one) => one.getBoundingClientRect())
        const box = boxes.find(({ y }) => y > list.y + list.height / 2) ?? boxes[0]
        return { x: box.x + 12, y: box.y + box.height / 2 }
      })()`),
    )
    await page.mouse.click(x, y)
  }

const inside =
  (selector: string, act: Act): Act =>
  async (page) => {
    await page.locator(selector).first().focus()
    await act(page)
  }

const list = '.virtual-list'
const search = 'input[type=search]'

const ofOperations: readonly Step[] = [
  ['click: tab Operations', click('.tabs a[href$="/operations"]')],
  ['key: PageDown in the operations', inside(list, key('PageDown'))],
  ['key: letter in the search', inside(search, key('m'))],
  ['key: letter in the search', inside(search, key('9'))],
  ['key: Backspace in the search', inside(search, key('Backspace'))],
  ['key: Backspace in the search', inside(search, key('Backspace'))],
  ['key: End in the operations', inside(list, key('End'))],
  ['key: Home in the operations', inside(list, key('Home'))],
  ['click: an operation', clickRow('.virtual-row a')],
  ['click: back to the operations', click('nav[aria-label="Way back"] a')],
]
const ofTimeline: readonly Step[] = [
  ['click: tab Timeline', click('.tabs a[href$="/timeline"]')],
  ['click: an event', clickRow('.virtual-row button')],
  ['key: PageUp in the timeline', inside(list, key('PageUp'))],
  ['click: an event', clickRow('.virtual-row button')],
  ['click: Close of its details', click('.event-details button.plain')],
  ['key: Home in the timeline', inside(list, key('Home'))],
  ['key: PageDown in the timeline', inside(list, key('PageDown'))],
  ['click: Jump to live', click('.toolbar button')],
  ['click: an event', clickRow('.virtual-row button')],
  ['click: Close of its details', click('.event-details button.plain')],
]

/** Turns the wheel until a moment, over the list, now up and now down. */
async function scroll(page: Page, until: number, direction: number): Promise<void> {
  await page.mouse.move(640, 600)
  while (performance.now() < until) {
    await page.mouse.wheel(0, direction * wheelPixels)
    await delay(wheelEveryMs)
  }
}

/** Each second one step, and the wheel in what is left of it. */
async function goThrough(page: Page, rounds: number): Promise<{ name: string; at: number }[]> {
  const steps = Array.from({ length: rounds }, () => [...ofOperations, ...ofTimeline]).flat()
  const taken: { name: string; at: number }[] = []
  for (const [index, [name, act]] of steps.entries()) {
    const end = performance.now() + stepMs
    taken.push({ name, at: Date.now() })
    await act(page)
    await scroll(page, end, index % 3 === 2 ? -1 : 1)
  }
  return taken
}

/** Measures what a person feels who scrolls, clicks and presses keys in a run of many operations while its events arrive. */
export async function measureInteractions(
  browser: BenchBrowser,
  workers: PlayedWorkers,
  { link, operations, rounds, rate }: InteractionPlan,
): Promise<Interactions> {
  const { page, faults, close } = await browser.visit(link, script)
  await untilWhole(page, operations)
  await delay(restMs)
  const [before, firstSeq, startedAt] = [await readSeen(page), await workers.seq(), performance.now()]
  const stop = new AbortController()
  const playing = workers.play(rate, stop.signal)
  const taken = await goThrough(page, rounds)
  await delay(restMs)
  const seconds = (performance.now() - startedAt) / 1_000
  stop.abort()
  await playing
  const { events, ...after } = await readSeen(page)
  const made = await workers.seq()
  await untilWhole(page, made)
  await close()
  const interactions = taken.map(({ name, at }, index): Interaction => {
    const end = taken[index + 1]?.at ?? Number.POSITIVE_INFINITY
    const own = events.filter((event) => event.at >= at && event.at < end).toSorted((one, other) => other.ms - one.ms)
    return { name, ...(own[0] ?? { ms: leastMs, waitedMs: 0, handledMs: 0, drawnMs: 0 }) }
  })
  return {
    interactions,
    seconds,
    events: made - firstSeq,
    faults,
    longTasks: after.longTasks - before.longTasks,
    longMs: after.longMs - before.longMs,
    longestMs: after.longestMs,
    frames: after.frames - before.frames,
    slowFrames: after.slowFrames - before.slowFrames,
  }
}
