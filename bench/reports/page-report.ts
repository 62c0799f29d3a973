import type { HeapFigures, HeapSample } from '../page/measure-heap.ts'
import type { Interaction, Interactions } from '../page/measure-interactions.ts'
import type { BuiltFile, Load, LoadedPlace } from '../page/measure-loads.ts'
import { machineName, median, notProved, packageText, sectionHead, spread, table, verdict } from './markdown-report.ts'
import { fitLine } from './memory-report.ts'

type Loads = { place: LoadedPlace; loads: readonly Load[] }
export type PageFigures = {
  files: readonly BuiltFile[]
  loads: readonly Loads[]
  interactions: Interactions
  heap: HeapFigures
}
/** `load`: of the machine, before each of the three parts. */
type About = Readonly<Record<'operations' | 'events' | 'otherRuns' | 'rate' | 'heapEvents' | 'tookMs', number>> & {
  redisVersion: string
  browserVersion: string
  load: readonly number[]
}

/** `heapMb`: growth over the events of an hour that still counts as flat. */
const budgets = { firstKb: 60, allKb: 200, paintMs: 1_000, interactionMs: 100, heapMb: 10 }
const count = (value: number) => Math.round(value).toLocaleString('en')
const kb = (bytes: number) => (bytes / 1_000).toFixed(1)
const mb = (bytes: number) => (bytes / 1e6).toFixed(1)
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** results/page.md. */
export function renderPage({ files, loads, interactions, heap }: PageFigures, about: About): string {
  const { operations, events, otherRuns, redisVersion, browserVersion, load, tookMs } = about
  const versions = [`Redis ${redisVersion}`, `Chromium ${browserVersion}`, packageText('preact')]
  const facts = [machineName(), `Node ${process.version}`, ...versions]
  return `${sectionHead('The dashboard', { command: 'node bench/page-bench.ts', tookMs, facts })}
The page as it is built, served by the API to a Chromium without a GPU on the same machine, 1280 × 900. Its run has ${count(operations)} operations and
began with ${count(events)} events, the older ones in the object store; ${otherRuns} other runs have nothing but a name. Its operations are claimed, appended to and settled
through the ledger, in the sizes of a real run, without a model: 64 at once. Load of the machine before the parts: ${load.map((one) => one.toFixed(1)).join(', ')}.

${sizesText(files, loads)}
${paintText(loads)}
${interactionsText(interactions, about)}
${heapText(heap, about)}${notProved([...interactions.faults, ...heap.faults])}
`
}

function sizesText(files: readonly BuiltFile[], loads: readonly Loads[]): string {
  const rows = [
    ...loads.map(({ place, loads: own }) => ({
      name: `first visit of ${place.name}`,
      own: files.filter(({ name }) => own[0]?.assets.includes(name)),
      transferred: kb(median(own.map(({ transferred }) => transferred))),
    })),
    { name: 'everything', own: files, transferred: '' },
  ]
  const [first = 0, all = 0] = [rows[0], rows.at(-1)].map((row) => sum((row?.own ?? []).map(({ gzip }) => gzip)))
  return `## What is loaded

Scripts and styles, by Chromium's list of what it loaded; \`gzip\` is each file at level 9.

${table<(typeof rows)[number]>(
  [
    ['', ({ name }) => name],
    ['files', ({ own }) => own.length],
    ['kB', ({ own }) => kb(sum(own.map(({ bytes }) => bytes)))],
    ['kB, gzip', ({ own }) => kb(sum(own.map(({ gzip }) => gzip)))],
    ['kB as transferred', ({ transferred }) => transferred],
  ],
  rows,
)}

Budgets: the first page ${budgets.firstKb} kB by gzip: **${verdict(first <= budgets.firstKb * 1_000)}**; everything ${budgets.allKb} kB: **${verdict(all <= budgets.allKb * 1_000)}**.
`
}

function paintText(loads: readonly Loads[]): string {
  const each = (figure: (load: Load) => number) => spread<Loads>(({ loads: own }) => own.map(figure), 0)
  const slowest = Math.max(...loads.map(({ loads: own }) => median(own.map(({ firstPaintMs }) => firstPaintMs))))
  return `## First paint

Of ${loads[0]?.loads.length} visits with nothing cached, each: ms since the visit began, median (least–most).

${table<Loads>(
  [
    ['', ({ place }) => place.name],
    ['first contentful paint', each(({ firstPaintMs }) => firstPaintMs)],
    ['first rows', each(({ rowsMs }) => rowsMs)],
    ['all rows', (row) => (row.place.rows === undefined ? '' : each(({ wholeMs }) => wholeMs)(row))],
  ],
  loads,
)}

Budget: first paint within ${count(budgets.paintMs)} ms: **${verdict(slowest < budgets.paintMs)}**.
`
}

/** Returns the value that a share of them is at most. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** By the rule of Interaction to Next Paint: the slowest, but for one in fifty. */
function nextPaint(values: readonly number[]): number {
  return values.toSorted((one, other) => other - one)[Math.floor(values.length / 50)] ?? Number.NaN
}

function interactionsText(figures: Interactions, { rate }: About): string {
  const { interactions, seconds, events } = figures
  const times = interactions.map(({ ms }) => ms)
  const kinds = [...new Set(interactions.map(({ name }) => name))].map((name) => {
    const own = interactions.filter((one) => one.name === name).toSorted((one, other) => other.ms - one.ms)
    return { name, own, worst: own[0] }
  })
  const part = (key: keyof Interaction & `${string}Ms`) => (row: (typeof kinds)[number]) =>
    (row.worst?.[key] ?? Number.NaN).toFixed(0)
  const score = nextPaint(times)
  const inSecond = (value: number) => (value / seconds).toFixed(0)
  return `## A person at work

For ${seconds.toFixed(0)} s, ${inSecond(events)} events a second (${rate} are due) arrive. Each second one click or key, by the debugger as from a device, and the
wheel in what is left of it, ten turns of 300 pixels or so. Times are those of the browser's Event Timing, from the input to the frame that shows what it
did, of 8 ms each; what takes less than 16 ms counts as 16.

${interactions.length} interactions: p50 ${quantile(times, 0.5)} ms, p98 ${quantile(times, 0.98)} ms, slowest ${Math.max(...times)} ms; INP (the slowest but one in fifty) ${score} ms. Long tasks (over 50 ms): ${figures.longTasks},
together ${count(figures.longMs)} ms, the longest ${count(figures.longestMs)} ms. Frames: ${inSecond(figures.frames)} a second; ${figures.slowFrames} came more than 50 ms after the one before.

${table<(typeof kinds)[number]>(
  [
    ['', ({ name }) => name],
    ['times', ({ own }) => own.length],
    ['median, ms', ({ own }) => median(own.map(({ ms }) => ms)).toFixed(0)],
    ['slowest, ms', ({ worst }) => worst?.ms ?? ''],
    ['of it: until it was handled', part('waitedMs')],
    ['in handlers', part('handledMs')],
    ['until it was drawn', part('drawnMs')],
  ],
  kinds,
)}

Budget: INP under ${budgets.interactionMs} ms: **${verdict(score < budgets.interactionMs)}**.
`
}

function heapText({ samples, seconds }: HeapFigures, { rate, heapEvents }: About): string {
  const line = fitLine(samples.map(({ events, heapBytes }) => ({ x: events, y: heapBytes })))
  const hour = rate * 3_600
  const [slope, error] = [line.slope, line.error].map((one) => (one * hour) / 1e6)
  const isFlat = Number(slope) <= budgets.heapMb
  const played = samples.at(-1)?.events ?? 0
  return `## Memory

The page has read all operations, then follows the timeline: ${count(played)} events of ${count(heapEvents)}, those of an hour at ${rate} a second, in ${seconds.toFixed(0)} s; they come as
fast as it takes them, at most 1,500 ahead. Before the first row it was shown 20,000, of which it keeps so many. Measured after a garbage collection.

${table<HeapSample>(
  [
    ['events', ({ events }) => count(events)],
    ['heap, MB', ({ heapBytes }) => mb(heapBytes)],
    ['DOM nodes', ({ nodes }) => count(nodes)],
    ['listeners', ({ listeners }) => count(listeners)],
  ],
  samples,
)}

Growth by a line through these: ${Number(slope).toFixed(1)} ± ${Number(error).toFixed(1)} MB for the ${count(hour)} events of an hour. Budget: flat, which is at
most ${budgets.heapMb} MB: **${verdict(isFlat)}**.
`
}
