import type { ReaderFigures } from '../streams/open-readers.ts'
import { apiSettings } from '../streams/served-events.ts'
import { notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** `rate`: events a second, which each of the readers gets. */
export type Scenario = { readers: number; rate: number }

/** Of one round. `shares`: CPU of each part while events were made, 1 for one core; `writer` appends, or tells the bare server to. */
export type StreamFigures = Scenario &
  ReaderFigures & {
    server: 'remora' | 'bare'
    shares: Readonly<Record<'server' | 'readers' | 'redis' | 'writer', number>>
    wallMs: number
    peakMb: number
    load: number
  }

/** Commands of Redis, and CPU of the API, while readers waited. */
export type IdleFigures = { readers: number; commands: number; apiShare: number }

type Measured = { scenarios: readonly Scenario[]; figures: readonly StreamFigures[]; idle: readonly IdleFigures[] }
type About = {
  events: number
  behind: number
  seconds: number
  rounds: number
  idleMs: number
  eventBytes: number
  redisVersion: string
  tookMs: number
}
type Row = { name: StreamFigures['server']; all: readonly StreamFigures[] }

const aims = { p99Ms: 100, peakMb: 300 }

export function isProved(figures: readonly StreamFigures[]): boolean {
  return figures.every(({ lost, doubled }) => lost + doubled === 0)
}

/** results/streams.md. */
export function renderStreams({ scenarios, figures, idle }: Measured, about: About): string {
  const { events, behind, seconds, rounds, eventBytes, redisVersion, tookMs } = about
  const settings = Object.entries(apiSettings).map(([name, value]) => `${name}=${value}`)
  const faults = figures.filter((one) => !isProved([one]))
  return `${sectionHead('Many readers of a run', { command: 'node bench/streams-bench.ts', redisVersion, tookMs })}
Readers follow a run of ${events.toLocaleString('en')} events, all but the latest of them in the object store, while events are appended through the
ledger (${eventBytes} bytes each as JSON). \`remora\` is the API as a process of its own, with ${settings.join(' ')}: half of its
readers by Server-Sent Events, half by WebSocket. \`bare\` is a server of Node's \`http\` that makes the same bytes itself and writes
them to as many, all by Server-Sent Events: no log, no token. Readers are bare sockets in two processes on the same machine,
which look for numbers and times only. One in ten is slow: it begins ${behind.toLocaleString('en')} events behind (of the bare server: at its end),
takes 64 KiB a second, and catches up behind the last event. Times are those of the others, from an event's \`ts\` to the read of its
bytes, in whole ms. Of ${rounds} rounds of ${seconds} s, in turn, a fresh server each: medians (least–most). CPU is in
cores, while events were appended; \`writer\` is what appends them.

${scenarios.map((scenario) => scenarioText(scenario, figures)).join('\n')}
${idleText(idle, about)}
${notProved(faults.map((one) => `${one.server}, ${one.readers} readers: ${one.lost} lost, ${one.doubled} doubled.`))}
`
}

function scenarioText({ readers, rate }: Scenario, figures: readonly StreamFigures[]): string {
  const those = figures.filter((one) => one.readers === readers && one.rate === rate)
  const ours = those.filter(({ server }) => server === 'remora')
  const rows = (['remora', 'bare'] as const).map((name): Row => ({
    name,
    all: those.filter((one) => one.server === name),
  }))
  const [p99, peak] = [Math.max(...ours.map(quantile(0.99))), Math.max(...ours.map(({ peakMb }) => peakMb))]
  const waits = table<Row>(
    [
      ['', ({ name }) => name],
      ['p50, ms', each(quantile(0.5), 0)],
      ['p99, ms', each(quantile(0.99), 0)],
      ['slowest, ms', each(quantile(1), 0)],
      ['events a slow one was behind', each(({ behind }) => behind, 0)],
      ['caught up after, s', each(({ caughtUpMs }) => caughtUpMs / 1_000, 1)],
    ],
    rows,
  )
  const costs = table<Row>(
    [
      ['', ({ name }) => name],
      ['frames/s', each(({ frames, wallMs }) => (frames / wallMs) * 1_000, 0)],
      ['CPU of the server', each(({ shares }) => shares.server, 2)],
      ['µs a frame', each(({ shares, frames, wallMs }) => (shares.server * wallMs * 1_000) / frames, 1)],
      ['readers', each(({ shares }) => shares.readers, 2)],
      ['Redis', each(({ shares }) => shares.redis, 2)],
      ['writer', each(({ shares }) => shares.writer, 2)],
      ['server at most, MB', each(({ peakMb }) => peakMb, 0)],
      ['load before', each(({ load }) => load, 1)],
    ],
    rows,
  )
  return `## ${readers.toLocaleString('en')} readers, ${rate} events a second

${waits}

${costs}

Limits: p99 of ${aims.p99Ms} ms: **${verdict(p99 <= aims.p99Ms)}** (${p99} in the worst round); ${aims.peakMb} MB: **${verdict(peak <= aims.peakMb)}** (${peak.toFixed(0)}); nothing lost or
doubled: **${verdict(isProved(ours))}**.
`
}

function idleText(idle: readonly IdleFigures[], { idleMs }: About): string {
  const [none, one, many] = idle.map(({ commands }) => commands)
  return `## Readers that wait

While nothing is appended for ${idleMs / 1_000} s. Commands are those of INFO commandstats, asking it among them; a run that is followed is looked at every 15 s.

${table<IdleFigures>(
  [
    ['readers', ({ readers }) => readers],
    ['commands of Redis', ({ commands }) => commands],
    ['CPU of the API', ({ apiShare }) => apiShare.toFixed(3)],
  ],
  idle,
)}

A run with a reader costs ${Number(one) - Number(none)} commands in that time, a further reader none: **${verdict(one === many)}**.
`
}

function each(figure: (one: StreamFigures) => number, digits: number): (row: Row) => string {
  return spread(({ all }) => all.map(figure), digits)
}

/** In ms. */
function quantile(share: number): (figures: StreamFigures) => number {
  return ({ byMs }) => {
    const wanted = byMs.reduce((sum, count) => sum + count, 0) * share
    let sum = 0
    return byMs.findIndex((count) => (sum += count) >= wanted && sum > 0)
  }
}
