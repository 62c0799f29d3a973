import { defaultModel } from '#domain/model-health.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { StageEnd } from '#store/ledger/run-stage.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getBundle } from '#store/objects/stored-records.ts'
import { openSharedPool } from '#models/shared-pool.ts'
import type { Log } from '#platform/log.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { answerAsk } from '#stages/conduct/answer-ask.ts'
import { stepRun, type StepDeps } from '#stages/conduct/step-run.ts'
import type { ConductorConfig } from './conductor-config.ts'

type Opened = {
  redis: RedisClient
  ledger: Ledger
  objects: ObjectStore
  origin: EventOrigin
  metrics: Metrics
  log: Log
}

/** Is how many requests a conductor has open at each server: workers need the others. */
const slots = 8

/** Opens what a step needs besides the stores: the model that decides, and all that is said to it. */
export function openSteps(config: ConductorConfig, { redis, metrics, ...opened }: Opened) {
  const { name, temperature, toolChoice } = config.model
  const { conductorId: holder, chatModel, awayLimitMs, leaseMs } = config
  const model = openSharedPool(config.model, { redis, holder, slots, metrics, log: opened.log })
  const asked = (named: string | undefined) => async (signal: AbortSignal) => {
    return { model: named ?? (await model.firstModel(signal)), temperature, toolChoice }
  }
  const deps: StepDeps = {
    ...opened,
    model,
    planner: asked(name),
    plannerName: name ?? defaultModel,
    bundle: (project, hash) => getBundle(opened.objects, project, hash),
    awayLimitMs,
    leaseMs,
    onDecision: (question, result) => metrics.count('remora_decisions_total', { question, result }),
  }
  return {
    async stepRun(runId: RunId, signal: AbortSignal): Promise<StageEnd> {
      const end = await stepRun(runId, deps, signal)
      return end === 'over' || end === 'busy' ? 'idle' : 'ok'
    },
    answerAsk: (ask: Parameters<typeof answerAsk>[0], signal: AbortSignal) =>
      answerAsk(ask, { ...deps, ledger: opened.ledger, chat: asked(chatModel) }, signal),
    close: () => model.close(),
  }
}
