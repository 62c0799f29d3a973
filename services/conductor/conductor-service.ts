import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { failRun, type StageEnd, unlessDeadly, untilStopped } from '#store/ledger/run-stage.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import { redisCheck, expectUsableRedis } from '#store/ledger/redis-check.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'
import { openStopSignals, type StopSignals } from '#store/ledger/stop-signals.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { objectStoreCheck } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import { type Consumer, openConsumer } from '#store/queues/consumer.ts'
import { openHealth } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openReadiness } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs } from '#platform/redis-client.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { openReleaser } from '#platform/service-process.ts'
import { noTracing } from '#platform/tracing/open-tracing.ts'
import type { ConductorConfig } from './conductor-config.ts'
import type { openSteps as OpenSteps } from './open-steps.ts'

/** Limits how long a run stands still when its conductor is killed: to this, and half as long again. */
const mostLockMs = 10_000
const graceMs = 5_000
/** A step waits for a model most of its time. */
const runsAtOnce = 8

/**
 * Decides about runs with an objective, and answers what people ask about any run, in any number of processes. What asks the model is loaded with the first of them: in an embedded stack
 * the conductor is a part of a process that most runs need without it.
 */
export async function startConductor(config: ConductorConfig, { log, redactor }: { log: Log; redactor: Redactor }) {
  const { redisUrl, s3, events } = config.storage
  const origin = { kind: 'conductor', id: config.conductorId } as const
  const releaser = openReleaser()
  try {
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis)
    const metrics = openMetrics('conductor')
    const objects = loggedOutages(await openObjects(s3), log, metrics)
    releaser.add('objects', async () => objects.close())
    const archive = openEventSegments(objects, events)
    const ledger = openLedger(redis, { origin, archive, redactor, log, traces: noTracing })
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects) }
    const readiness = openReadiness(needed, { redis_user: redisUserCheck(redis, 'conductor') })
    const health = await openHealth(config.health, { readiness, metrics })
    releaser.add('health', health.close)
    const steps = openWhenNeeded(async () => {
      const { openSteps } = await import('./open-steps.ts')
      return openSteps(config, { redis, ledger, objects, origin, metrics, log })
    })
    releaser.add('model pool', steps.close)
    const consumer = startConsumer(config, { steps, ledger, stops, origin, log })
    releaser.add('consumer', () => consumer.close({ graceMs }))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

type Opened = ReturnType<typeof OpenSteps>

/** Opens what a step needs with the first one, and once more where that failed. */
function openWhenNeeded(open: () => Promise<Opened>) {
  let opened: Promise<Opened> | undefined
  const get = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return { get, close: async () => (await opened)?.close() }
}

type Conducting = {
  steps: Pick<ReturnType<typeof openWhenNeeded>, 'get'>
  ledger: Ledger
  stops: StopSignals
  origin: EventOrigin
  log: Log
}

function startConsumer(
  { storage, leaseMs }: ConductorConfig,
  { steps, ledger, stops, origin, log }: Conducting,
): Consumer {
  const phases = ['execution'] as const
  const step = async (runId: RunId, signal: AbortSignal): Promise<StageEnd> => {
    const { stepRun } = await steps.get()
    return stepRun(runId, signal).catch((error: unknown) => failRun(runId, error, { phases, origin, signal }, ledger))
  }
  return openConsumer({
    redisUrl: storage.redisUrl,
    queue: 'conductor',
    concurrency: runsAtOnce,
    lockMs: Math.min(mostLockMs, leaseMs),
    log,
    handler: async ({ run_id: runId, ask_id: askId }, signal, stalls) => {
      if (askId !== undefined) {
        const end = await (await steps.get()).answerAsk({ runId, askId, stalls }, signal)
        return end === 'again' ? end : undefined
      }
      await unlessDeadly(runId, { phases, origin, signal, stalls }, ledger, () =>
        untilStopped(runId, (own) => step(runId, own), { ledger, stops }, signal),
      )
      return undefined
    },
  })
}
