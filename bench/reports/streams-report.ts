import type { ReaderFigures } from '../streams/open-readers.ts'
import { apiSettings } from '../streams/served-events.ts'
import { notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** `rate`: events a second, each of which goes to each of the readers. */
export type Scenario = { readers: number; rate: number }

/** Has the figures of one round. `shares`: CPU in cores while events were made; `writer` appends them, or tells the bare server to. */
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
type About = Readonly<
  Record<'events' | 'behind' | 'seconds' | 'rounds' | 'idleMs' | 'eventBytes' | 'tookMs', number>
> & {
  redisVersion: string
}
type Row = { name: StreamFigures['server']; all: readonly StreamFigures[] }

const aims = { p99Ms: 100, peakMb: 300 }
const count = (value: number) => value.toLocaleString('en')

export function isProved(figures: readonly StreamFigures[]): boolean {
  return figures.every(({ lost, doubled }) => lost + doubled === 0)
}

/** results/streams.md. */
export function renderStreams({ scenarios, figures, idle }: Measured, about: About): string {
  const { events, behind, seconds, rounds, eventBytes, redisVersion, tookMs } = about
  const settings = Object.entries(apiSettings).map(([name, value]) => `${name}=${value}`)
  const faults = figures.filter((one) => !isProved([one]))
  return `${sectionHead('Many readers of a run', { command: 'node bench/streams-bench.ts', redisVersion, tookMs })}
Readers follow a run of ${count(events)} events, the older ones in the object store, while more are appended through the ledger (${eventBytes}
bytes each as JSON). \`remora\` is the API as a process of its own with ${settings.join(' ')}: half of its readers by
Server-Sent Events, half by WebSocket. \`bare\` is a server of Node's \`http\` that makes the same bytes itself and writes them to as
many, all by Server-Sent Events: no log, no token. Readers are bare sockets in two processes on the same machine, which look for
numbers and times only. One in ten is slow: it begins ${count(behind)} events behind (of the bare server: at its end), takes 64 KiB a second, and
catches up after the last event. Times are those of the others, from an event's \`ts\` to the read of its bytes, in whole ms.
Of ${rounds} rounds of ${seconds} s, in turn, a fresh server each: medians (least–most). CPU is in cores, while events were appended;
\`writer\` appends them.

${scenarios.map((scenario) => scenarioText(scenario, figures)).join('\n')}
${idleText(idle, about)}${notProved(faults.map((one) => `${one.server}, ${one.readers} readers: ${one.lost} lost, ${one.doubled} doubled.`))}
`
}

function scenarioText({ readers, rate }: Scenario, figures: readonly StreamFigures[]): string {
  const rows = (['remora', 'bare'] as const).map((name): Row => {
    const isThis = (one: StreamFigures) => one.server === name && one.readers === readers && one.rate === rate
    return { name, all: figures.filter(isThis) }
  })
  const ours = rows[0]?.all ?? []
  const [p99, peak] = [Math.max(...ours.map(quantile(0.99))), Math.max(...ours.map(({ peakMb }) => peakMb))]
  const each = (figure: (one: StreamFigures) => number, digits = 0) => spread<Row>(({ all }) => all.map(figure), digits)
  const name = ['', (row: Row) => row.name] as const
  const waits = table<Row>(
    [
      name,
      ['p50, ms', each(quantile(0.5))],
      ['p99, ms', each(quantile(0.99))],
      ['slowest, ms', each(quantile(1))],
      ['events a slow one was behind', each(({ behind }) => behind)],
      ['all had all after, s', each(({ caughtUpMs }) => caughtUpMs / 1_000, 1)],
      ['server at most, MB', each(({ peakMb }) => peakMb)],
    ],
    rows,
  )
  const costs = table<Row>(
    [
      name,
      ['frames/s', each(({ frames, wallMs }) => (frames / wallMs) * 1_000)],
      ['CPU of the server', each(({ shares }) => shares.server, 2)],
      ['µs a frame', each(({ shares, frames, wallMs }) => (shares.server * wallMs * 1_000) / frames, 1)],
      ['readers', each(({ shares }) => shares.readers, 2)],
      ['Redis', each(({ shares }) => shares.redis, 2)],
      ['writer', each(({ shares }) => shares.writer, 2)],
      ['load before', each(({ load }) => load, 1)],
    ],
    rows,
  )
  return `## ${count(readers)} readers, ${rate} events a second

${waits}

${costs}

Limits: p99 of ${aims.p99Ms} ms: **${verdict(p99 <= aims.p99Ms)}** (${p99} in the worst round); ${aims.peakMb} MB: **${verdict(peak <= aims.peakMb)}** (${peak.toFixed(0)}); nothing lost or
doubled: **${verdict(isProved(ours))}**.
`
}

function idleText(idle: readonly IdleFigures[], { idleMs }: About): string {
  const [none, one, many] = idle.map(({ commands }) => commands)
  const rows = table<IdleFigures>(
    [
      ['readers', ({ readers }) => readers],
      ['commands of Redis', ({ commands }) => commands],
      ['CPU of the API', ({ apiShare }) => apiShare.toFixed(3)],
    ],
    idle,
  )
  return `## Readers that wait

Nothing is appended for ${idleMs / 1_000} s. Commands are those of INFO commandstats, asking it among them; a run that is followed is looked at
every 15 s.

${rows}

A run with a reader costs ${Number(one) - Number(none)} commands in that time, a further reader none: **${verdict(one === many)}**.
`
}

/** Returns what finds a quantile of the latency, in ms. */
function quantile(share: number): (figures: StreamFigures) => number {
  return ({ byMs }) => {
    const wanted = byMs.reduce((sum, times) => sum + times, 0) * share
    let sum = 0
    return byMs.findIndex((times) => (sum += times) >= wanted && sum > 0)
  }
}
