import type { ServiceDeps } from '#platform/service-process.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { failRun, type StageEnd, unlessDeadly, untilStopped } from '#store/ledger/run-stage.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openStopSignals, type StopSignals } from '#store/ledger/stop-signals.ts'
import { type Consumer, openConsumer } from '#store/queues/consumer.ts'
import { startService } from '#store/start-service.ts'
import type { Log } from '#platform/log.ts'
import { parseConfig, type ConductorConfig } from './conductor-config.ts'
import type { openSteps as OpenSteps } from './open-steps.ts'

/** Limits how long a run stands still when its conductor is killed: to this, and half as long again. */
const mostLockMs = 10_000
const graceMs = 5_000
/** A step waits for a model most of its time. */
const runsAtOnce = 8

export const conductor = { name: 'conductor', refuses: 'keyFault', parseConfig, start: startConductor } as const

/**
 * Decides about runs with an objective, and answers what people ask about any run, in any number of processes. What asks the model is loaded with the first of them: in an embedded stack
 * the conductor is a part of a process that most runs need without it.
 */
export function startConductor(config: ConductorConfig, deps: ServiceDeps) {
  const { storage, health, conductorId } = config
  const origin = { kind: 'conductor', id: conductorId } as const
  return startService({ name: 'conductor', origin, storage, health }, deps, ({ ledger, ...stores }, releaser) => {
    const { log } = deps
    const stops = openStopSignals({ redisUrl: storage.redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const steps = openWhenNeeded(async () => {
      const { openSteps } = await import('./open-steps.ts')
      return openSteps(config, { ...stores, ledger, origin, log })
    })
    releaser.add('model pool', steps.close)
    const consumer = startConsumer(config, { steps, ledger, stops, origin, log })
    releaser.add('consumer', () => consumer.close({ graceMs }))
    return {}
  })
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
