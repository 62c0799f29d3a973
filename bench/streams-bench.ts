import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { wireEvent } from '#domain/event.ts'
import { delay } from '#platform/clock.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { redisVersion } from './ledger/bench-ledger.ts'
import { openBenchStores } from './remora/bench-stores.ts'
import { peakMb, processCpu } from './remora/process-cpu.ts'
import { redisCalls } from './remora/whole-system.ts'
import { saveReport } from './reports/markdown-report.ts'
import {
  type IdleFigures,
  isProved,
  renderStreams,
  type Scenario,
  type StreamFigures,
} from './reports/streams-report.ts'
import { openReaders, type ReaderPlan } from './streams/open-readers.ts'
import { openLiveRun, serveBare, serveByApi, type ServedLog } from './streams/served-events.ts'

/**
 * `node bench/streams-bench.ts`: many readers of the events of one run, by Server-Sent Events and WebSocket, while events are appended: what comes
 * late, what is lost, what it costs, beside a bare server that writes the same bytes. Writes results/streams.md; with `--quick` it
 * only prints, of few readers. With `--profile DIR` the API's CPU profiles are written there.
 */
const { quick, profile } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, profile: { type: 'string' } },
}).values
const scenarios: readonly Scenario[] = [
  { readers: quick ? 100 : 1_000, rate: 20 },
  { readers: 20, rate: 500 },
]
/** `behind`: of a slow reader when it begins. In `idleMs` a run is looked at twice for all its readers. */
const scale = quick
  ? { events: 20_000, behind: 5_000, seconds: 5, rounds: 1, idle: 50, idleMs: 30_000 }
  : { events: 100_000, behind: 5_000, seconds: 20, rounds: 3, idle: 200, idleMs: 30_000 }
const restMs = 1_000
const tickMs = 10

/** One in ten is slow; of both kinds of connection as many are. Those of the bare server, which has neither, are all SSE. */
function plansOf({ name }: ServedLog, count: number, seq: number): ReaderPlan[] {
  return Array.from({ length: count }, (_, at): ReaderPlan => {
    const isSlow = at % 10 === 0
    if (name === 'bare') return { kind: 'sse', isSlow, after: seq }
    const kind = (at + Math.floor(at / 10)) % 2 === 0 ? 'sse' : 'ws'
    return { kind, isSlow, after: isSlow ? seq - scale.behind : seq }
  })
}

/** Each event is due at its time, however long those before took. */
async function make({ emit }: ServedLog, rate: number): Promise<void> {
  const startedAt = performance.now()
  for (let sent = 0; sent < rate * scale.seconds;) {
    const due = Math.min(rate * scale.seconds, Math.floor(((performance.now() - startedAt) / 1_000) * rate))
    if (due > sent) await emit(due - sent)
    sent = due
    await delay(tickMs)
  }
}

async function measure(server: ServedLog, scenario: Scenario): Promise<StreamFigures> {
  const readers = await openReaders(server, plansOf(server, scenario.readers, await server.seq()))
  await delay(restMs)
  const ownCpu = (pid: number) => processCpu(pid).own
  const cpu = () => [ownCpu(server.pid), readers.cpuMs(), ownCpu(stores.pids.redis), ownCpu(process.pid)] as const
  const [before, startedAt, load] = [cpu(), performance.now(), loadavg()[0] ?? 0]
  readers.measure()
  await make(server, scenario.rate)
  const [after, wallMs] = [cpu(), performance.now() - startedAt]
  const figures = await readers.finish(await server.seq())
  const share = (part: 0 | 1 | 2 | 3) => (after[part] - before[part]) / wallMs
  const shares = { server: share(0), readers: share(1), redis: share(2), writer: share(3) }
  const all = { ...scenario, server: server.name, shares, wallMs, peakMb: peakMb(server.pid), load, ...figures }
  console.log(JSON.stringify({ ...all, byMs: undefined }))
  return all
}

async function measureIdle(server: ServedLog, count: number): Promise<IdleFigures> {
  const after = await server.seq()
  const plans = plansOf(server, count, after).map((plan) => ({ ...plan, isSlow: false, after }))
  const readers = await openReaders(server, plans)
  await delay(restMs)
  const [calls, cpu] = [await redisCalls(redis), processCpu(server.pid).own]
  await delay(scale.idleMs)
  const commands = (await redisCalls(redis)).commands - calls.commands
  const apiShare = (processCpu(server.pid).own - cpu) / scale.idleMs
  await readers.finish(after)
  return { readers: count, commands, apiShare }
}

const startedAt = performance.now()
const releaser = openReleaser()
const stores = await openBenchStores(releaser)
const { redis, s3 } = stores
const objects = openS3ObjectStore({ ...s3, credentials: s3 })
releaser.add('objects', async () => objects.close())
try {
  const ledger = openLedger(redis, { archive: openEventSegments(objects) })
  const run = await openLiveRun(ledger, scale.events)
  const [event] = await ledger.readEvents(run.runId, { after: (await run.seq()) - 1, limit: 1 })
  const text = event === undefined ? '' : JSON.stringify(wireEvent(event))
  const start = async (name: ServedLog['name']) =>
    name === 'bare' ? serveBare(text.slice(text.indexOf('Z",') + 3)) : serveByApi({ stores, profileDir: profile }, run)
  const figures: StreamFigures[] = []
  const idle: IdleFigures[] = []
  for (let round = 0; round < scale.rounds; round++)
    for (const scenario of scenarios)
      for (const name of ['remora', 'bare'] as const) {
        const server = await start(name)
        figures.push(await measure(server, scenario))
        await server.stop()
      }
  const server = await start('remora')
  for (const count of [0, 1, scale.idle]) idle.push(await measureIdle(server, count))
  await server.stop()
  const about = { ...scale, eventBytes: text.length, redisVersion: await redisVersion(redis) }
  const tookMs = performance.now() - startedAt
  await saveReport('streams', renderStreams({ scenarios, figures, idle }, { ...about, tookMs }), { quick })
  process.exitCode = isProved(figures) ? 0 : 1
} finally {
  await releaser.release()
}
