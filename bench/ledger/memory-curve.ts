import { defaultProject, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { DispatchedOperation } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openRetention } from '#store/ledger/retention.ts'
import {
  claimOne,
  complete,
  dataBytes,
  execute,
  inLanes,
  newRun,
  openBenchLedger,
  planAll,
  settledBytes,
  slicesOf,
} from './bench-ledger.ts'
import { escapeXml, strokeOf } from '../reports/svg.ts'
import { playAttempt } from './played-run.ts'

/** `share` is the progress of the phase, 0 to 1. */
type MemorySample = { phase: 'plan' | 'execution' | 'after'; share: number; bytes: number }
type CurveLine = { name: string; samples: readonly MemorySample[] }
export type Curve = { title: string; lines: readonly CurveLine[]; operations: number }

const window = 256
const playLanes = 64
/** Operations between two rounds of upkeep: results passed on, events archived, memory read. */
const upkeepEvery = 1_024

export type MemoryFigures = CurveLine & {
  events: number
  /** Events and bytes of JSON that left Redis for the archive. */
  archived: { events: number; bytes: number }
  wallMs: number
}

/**
 * Plays a whole run through the ledger, from plan to end, as one worker with many slots would, and reads Redis' memory
 * meanwhile. After the end it publishes the outbox, archives the remaining whole segments of events, and then forgets
 * the run.
 */
export async function measureMemory(
  operations: readonly PlannedOperation[],
  options: { name: string; archive: boolean },
): Promise<MemoryFigures> {
  const bench = await openBenchLedger(options)
  const { ledger, redis, archived } = bench
  const started = performance.now()
  const samples: MemorySample[] = []
  const sample = async (phase: MemorySample['phase'], share: number) =>
    void samples.push({ phase, share, bytes: await dataBytes(redis) })
  try {
    const runId = await newRun(ledger)
    await planAll(ledger, runId, slicesOf(operations), (planned) => sample('plan', planned / operations.length))
    await execute(ledger, runId)
    await playAll(ledger, runId, operations.length, (ended) => sample('execution', ended / operations.length))
    await complete(ledger, runId)
    samples.push({ phase: 'after', share: 0.5, bytes: await settledBytes(redis) })
    const { seq } = await ledger.getRun(runId)
    await openRetention(redis).forgetRun({ projectId: defaultProject, runId })
    samples.push({ phase: 'after', share: 1, bytes: await settledBytes(redis) })
    return { name: options.name, samples, events: seq, archived, wallMs: performance.now() - started }
  } finally {
    await bench.close()
  }
}

async function playAll(
  ledger: Ledger,
  runId: RunId,
  total: number,
  sample: (ended: number) => Promise<void>,
): Promise<void> {
  let ended = 0
  let due = upkeepEvery
  while (ended < total) {
    const { taken } = await ledger.dispatch(runId, window)
    if (taken.length === 0) throw new Error(`nothing is ready after ${ended} operations`)
    await inLanes(taken, playLanes, (job) => playOne(ledger, { runId, ...job }))
    ended += taken.length
    if (ended < due && ended < total) continue
    due = ended + upkeepEvery
    await ledger.relayResults(runId)
    while ((await ledger.archiveEvents(runId)) > 0);
    await sample(ended)
  }
}

async function playOne(ledger: Ledger, job: DispatchedOperation): Promise<void> {
  const attempt = await claimOne(ledger, job)
  const { appends, settlement } = playAttempt(attempt)
  for (const [at, events] of appends.entries()) await ledger.append(attempt, at + 1, { events })
  const { kind } = await ledger.settle(attempt, appends.length + 1, settlement)
  if (kind !== 'settled') throw new Error(`a settle was answered ${kind}`)
}

const size = { width: 860, height: 420 }
const plot = { left: 76, right: 836, top: 64, bottom: 340 }
/** The horizontal range of each phase, with its label. */
const phases = {
  plan: { from: 0, to: 0.2, label: 'planned' },
  execution: { from: 0.2, to: 0.8, label: 'ended' },
  after: { from: 0.8, to: 1, label: 'after the end' },
} as const
const mebibyte = 2 ** 20

/**
 * Redis' memory over the life of a run as an SVG of its own, legible on light and on dark pages: no background, greys and
 * two line colours that stand out from both. Pure.
 */
export function memoryCurve({ title, lines, operations }: Curve): string {
  const top = topOf(Math.max(...lines.flatMap(({ samples }) => samples.map(({ bytes }) => bytes))) / mebibyte)
  const described = lines.map(({ name, samples }) => `${name}: ${highest(samples)} MiB at most`).join('; ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#7d8590">
<title>${escapeXml(title)}</title>
<desc>${escapeXml(described)}</desc>
<text x="${plot.left}" y="22" font-size="16" font-weight="600">${escapeXml(title)}</text>
${lines.map(legend).join('\n')}
${verticalAxis(top)}
${horizontalAxis(operations)}
${lines.map((line, at) => path(line, at, top)).join('\n')}
</svg>
`
}

function legend({ name, samples }: CurveLine, at: number): string {
  const x = plot.left + at * 330
  const text = `${name}, at most ${highest(samples)} MiB`
  return `<line x1="${x}" y1="42" x2="${x + 26}" y2="42" ${strokeOf(at)}/><text x="${x + 34}" y="46">${escapeXml(text)}</text>`
}

function verticalAxis(top: number): string {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = yOf(share)
    const grid = `<line x1="${plot.left}" y1="${y}" x2="${plot.right}" y2="${y}" stroke="#7d8590" stroke-opacity="0.3"/>`
    return `${grid}<text x="${plot.left - 8}" y="${y + 4}" text-anchor="end">${Number((share * top).toPrecision(3))}</text>`
  })
  const middle = (plot.top + plot.bottom) / 2
  const label = `<text transform="translate(20 ${middle}) rotate(-90)" text-anchor="middle">memory of Redis, MiB</text>`
  return [...ticks, label].join('\n')
}

function horizontalAxis(operations: number): string {
  const parts = Object.entries(phases).flatMap(([name, { from, to, label }]) => {
    const [start, end] = [xOf(from), xOf(to)]
    const edge = `<line x1="${start}" y1="${plot.top}" x2="${start}" y2="${plot.bottom + 6}" stroke="#7d8590" stroke-opacity="0.6"/>`
    const text = `<text x="${(start + end) / 2}" y="${plot.bottom + 44}" text-anchor="middle">${label}</text>`
    const marks =
      name === 'after' ? ['ended', 'forgotten'] : [operations / 2, operations].map((mark) => mark.toLocaleString('en'))
    const shares = [0.5, 1]
    const ticks = marks.map((mark, at) => {
      const x = Math.round(start + (end - start) * (shares[at] ?? 1))
      return `<text x="${x}" y="${plot.bottom + 20}" font-size="11" text-anchor="${at === 1 ? 'end' : 'middle'}">${mark}</text>`
    })
    return [edge, ...ticks, text]
  })
  const unit = `<text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 68}" text-anchor="middle">progress of the run, operations</text>`
  return [...parts, unit].join('\n')
}

function path({ samples }: CurveLine, at: number, top: number): string {
  const points = samples.map(({ phase, share, bytes }) => {
    const { from, to } = phases[phase]
    return `${xOf(from + (to - from) * share)} ${yOf(bytes / mebibyte / top)}`
  })
  return `<path d="M${points.join('L')}" fill="none" stroke-linejoin="round" ${strokeOf(at)}/>`
}

function xOf(share: number): number {
  return Math.round((plot.left + (plot.right - plot.left) * share) * 10) / 10
}

function yOf(share: number): number {
  return Math.round((plot.bottom - (plot.bottom - plot.top) * share) * 10) / 10
}

/** The next of 1, 2, 4, 8 times a power of ten. */
function topOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)))
  return power * ([1, 2, 4, 8].find((step) => step * power >= most) ?? 10)
}

function highest(samples: readonly MemorySample[]): string {
  return (Math.max(...samples.map(({ bytes }) => bytes)) / mebibyte).toFixed(0)
}
