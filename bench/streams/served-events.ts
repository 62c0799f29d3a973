import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Ledger } from '#store/ledger/ledger.ts'
import { claimOne, execute, newRun, planAll } from '../ledger/bench-ledger.ts'
import { type BenchStores, startBenchApi } from '../remora/bench-stores.ts'
import { plannedOperations, shortAppend } from '../ledger/played-run.ts'
import { answerOf } from './open-readers.ts'

/** A log of events: its last number, and how more come. */
export type LiveLog = { seq(): Promise<number>; emit(count: number): Promise<void> }
/** A server of them in a process of its own. */
export type ServedLog = LiveLog & {
  name: 'remora' | 'bare'
  url: string
  token: string
  pid: number
  stop(): Promise<void>
}

const token = 'only-for-the-streams-bench'
/** By default 1,000 connections are open at once, and a token makes 500 requests at once. */
export const apiSettings = { REMORA_MAX_CONNECTIONS: '2000', REMORA_REQUESTS_PER_SECOND: '0' }
const appendedAtOnce = 1_000

/** A run with a running operation, and so many events of the sizes of a worker's; the older ones are in the archive, where discovery moves them. */
export async function openLiveRun(ledger: Ledger, events: number) {
  const runId = await newRun(ledger)
  const operations = plannedOperations(1).filter(({ after }) => after.length === 0)
  await planAll(ledger, runId, [operations.slice(0, 1)])
  await execute(ledger, runId)
  const { taken } = await ledger.dispatch(runId, 1)
  const [attempt] = await Promise.all(taken.map((job) => claimOne(ledger, { runId, ...job })))
  if (attempt === undefined) throw new Error('nothing was dispatched')
  const turn = shortAppend(attempt).map((event) => ({ ...event, ageMs: 0 }))
  let n = 0
  const emit = async (count: number) => {
    const due = Array.from({ length: Math.ceil(count / turn.length) }, () => turn).flat()
    const { kind } = await ledger.append(attempt, (n += 1), { events: due.slice(0, count) })
    if (kind !== 'ok') throw new Error(`an append was answered ${kind}`)
  }
  for (let made = 0; made < events; made += appendedAtOnce) await emit(appendedAtOnce)
  for (let moved = 1; moved > 0;) moved = await ledger.archiveEvents(runId)
  return { runId, emit, seq: async () => (await ledger.getRun(runId)).seq }
}

/** The API. `profileDir`: where Node writes its CPU profile at the end. */
export async function serveByApi(
  { stores, profileDir }: { stores: BenchStores; profileDir: string | undefined },
  { runId, ...log }: LiveLog & { runId: string },
): Promise<ServedLog> {
  const profile = profileDir === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` }
  const { origin, ...api } = await startBenchApi(stores, { ...apiSettings, ...profile, REMORA_TOKEN: token })
  return { ...log, ...api, name: 'remora', url: `${origin}/v1/runs/${runId}/events`, token }
}

/** The least of a server; `rest` is what its events have behind their time. */
export async function serveBare(rest: string): Promise<ServedLog> {
  const entry = fileURLToPath(new URL('bare-server-main.ts', import.meta.url))
  const child = fork(entry, [rest], { execArgv: [] })
  const url = `http://127.0.0.1:${await answerOf(child, z.int())}/`
  let seq = 0
  const emit = async (count: number) => {
    seq += count
    child.send(count)
  }
  const { pid = 0 } = child
  return { name: 'bare', url, token, pid, seq: async () => seq, emit, stop: async () => child.disconnect() }
}
