import { anEvent } from '#testing/an-event.ts'
import { OpenAPIHono } from '@hono/zod-openapi'
import { afterEach, beforeEach } from 'vitest'
import { AppError } from '#domain/error.ts'
import { anOutcome, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { toldChannel } from '#store/ledger/keys.ts'
import { type Notices, openNotices } from '#store/ledger/notices.ts'
import type { NewEvent } from '#domain/event.ts'
import { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { allScopes } from '#domain/scope.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openLog, silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { problemHandler, refuseInput } from '../../http/problem.ts'
import { serveApp } from '../../http/serve-app.ts'
import { plannedOperation } from '../../played-run.fixture.ts'
import { addEventRoutes, type EventLimits } from './event-routes.ts'
import type { ToldSource } from './project-log.ts'
import type { EventSource } from './run-log.ts'

/** What was asked of the ledger, and how to make it fail. */
type CountedSource = EventSource &
  ToldSource & {
    /** Events that were read, all answers together. */
    events: number
    /** What was asked while it was away. */
    refused: number
    /** Of every read of a run. */
    asked: RunId[]
    /** Reads of the ranges of all runs. */
    told: number
    isAway: boolean
    /** Runs that are followed now. */
    followed: number
  }

function countedSource(ledger: EventSource & ToldSource): CountedSource {
  const failWhenAway = () => {
    if (!source.isAway) return
    source.refused += 1
    throw new AppError('STORE_001', 'away')
  }
  const source: CountedSource = {
    events: 0,
    refused: 0,
    asked: [],
    told: 0,
    isAway: false,
    followed: 0,
    async getRun(runId) {
      failWhenAway()
      source.asked.push(runId)
      return ledger.getRun(runId)
    },
    async readEvents(runId, page) {
      failWhenAway()
      const events = await ledger.readEvents(runId, page)
      source.events += events.length
      return events
    },
    lastTold: ledger.lastTold,
    async readTold(projectId, page) {
      failWhenAway()
      source.told += 1
      return ledger.readTold(projectId, page)
    },
  }
  return source
}

export type EventServer = {
  url: string
  source: CountedSource
  /** Returns what it has logged. */
  lines: string[]
  close(): Promise<void>
}

/** The events' routes behind a real HTTP server, for the project `default`. */
export async function serveEvents(test: TestLedger, readerLimits: Partial<EventLimits> = {}): Promise<EventServer> {
  const lines: string[] = []
  const log = openLog({ service: 'api', level: 'debug', write: (line) => void lines.push(line) })
  const closing = new AbortController()
  const source = countedSource(test.ledger)
  const notices = await heardNotices(test)
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInput })
  app.onError(problemHandler({ log, isRedisReady: () => true }))
  app.use(async (c, next) => {
    const caller = { projectId: 'default', scopes: allScopes, tokenId: 'test', isOperator: false }
    c.set('caller', caller)
    c.set('callerNow', async () => caller)
    c.set('requestId', 'q1')
    await next()
  })
  const deps = { ledger: source, log, redactor: openRedactor(), closing: closing.signal, readerLimits }
  addEventRoutes(app, { ...deps, notices: countedNotices(notices, source) })
  const served = await serveApp(app, { host: '127.0.0.1', port: 0, graceMs: 10_000 })
  const close = async () => {
    closing.abort()
    await served.close()
    notices.close()
  }
  return { url: served.url, source, lines, close }
}

function countedNotices(notices: Notices, source: CountedSource): Pick<Notices, 'on'> {
  return {
    on(of, listener) {
      source.followed += 1
      const stop = notices.on(of, listener)
      return () => {
        source.followed -= 1
        stop()
      }
    },
  }
}

/** Notices that are heard from now on. */
async function heardNotices({ redis, redisUrl, namespace }: TestLedger): Promise<Notices> {
  const notices = openNotices({ redisUrl, namespace, log: silentLog })
  const probe = RunId.parse('r0000000000000000')
  let isHeard = false
  const stop = notices.on(probe, () => void (isHeard = true))
  await until(async () => {
    await redis.publish(toldChannel(namespace), `${probe} 1`)
    return isHeard
  })
  stop()
  return notices
}

type RunningLedger = {
  ledger: Ledger
  executing(operations: readonly PlannedOperation[]): Promise<RunId>
  claimReady(runId: RunId): Promise<Attempt[]>
}

export type RunningRun = {
  runId: RunId
  /** Events so far. */
  seq(): Promise<number>
  emit(events: readonly NewEvent[]): Promise<void>
  end(): Promise<void>
}

/** A run of one running operation, whose events come when the test says so. */
export async function runningRun({ ledger, executing, claimReady }: RunningLedger): Promise<RunningRun> {
  const runId = await executing([plannedOperation('one')])
  const [attempt] = await claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  let n = 0
  return {
    runId,
    seq: async () => (await ledger.getRun(runId)).seq,
    async emit(events) {
      await ledger.append(attempt, (n += 1), { events })
    },
    async end() {
      await ledger.settle(attempt, (n += 1), { outcome: anOutcome(), events: [] })
      const origin = { kind: 'discovery', id: 'test' } as const
      await ledger.move(runId, {
        from: [{ status: 'running' }],
        to: { status: 'completed' },
        command: 'end',
        events: [anEvent({ event: 'run.completed', phase: 'review', origin })],
      })
    },
  }
}

/** A server for each test of a file, and a run that is running. */
export function useEventServer() {
  const test = useOpened(testLedger)
  const opened: { server: EventServer; run: RunningRun } = Object.create(null)
  beforeEach(async () => {
    opened.server = await serveEvents(test)
    opened.run = await runningRun(test)
  })
  afterEach(() => opened.server.close())
  const eventsOf = (query = '', { url } = opened.server) => `${url}/v1/runs/${opened.run.runId}/events${query}`
  return Object.assign(opened, { test, eventsOf })
}

export function some(count: number, data: Record<string, unknown> = {}): NewEvent[] {
  return Array.from({ length: count }, () => anEvent({ data }))
}
