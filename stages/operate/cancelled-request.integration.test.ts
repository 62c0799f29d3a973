import { expect, it } from 'vitest'
import { openStopSignals } from '#store/ledger/stop-signals.ts'
import { stopsChannel } from '#store/ledger/keys.ts'
import { openModelPool } from '#models/model-pool.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'
import { silentLog } from '#platform/log.ts'

const bench = useOpened(openOperationBench)

async function requestsRunning(): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', bench.modelUrl))).text()
  return Number(/vllm:num_requests_running\{[^}]*\} (\d+)/.exec(metrics)?.[1])
}

it.each([
  { when: 'before its answer begins', fault: 'hang', stream: false },
  { when: 'before its stream begins', fault: 'hang', stream: true },
  { when: 'in the middle of its answer', fault: 'stall', stream: false },
  { when: 'in the middle of its stream', fault: 'stall', stream: true },
])('a run that is cancelled closes the connection of a request $when', async ({ fault, stream }) => {
  const bundle = await bench.bundle('docstring')
  bundle.file.initial_context.system_prompt += `[[rehearsal:fault=${fault}]]`
  const planned = await bench.planned(bundle, 'def shelf(row):\n    return f"shelf"\n', 'shelf')
  const limits = { requestTimeoutMs: 600_000, retryBudgetMs: 600_000, maxInFlight: 1 }
  const model = openModelPool({ endpoints: [{ url: bench.modelUrl }], ...limits, stream })
  const { redisUrl, namespace } = bench
  const stops = openStopSignals({ redisUrl, namespace, log: silentLog })
  // A heartbeat comes after a third of the lease: what ends the request is the signal, not a heartbeat.
  const deps = { ...bench.deps, model, stops, ledger: bench.withLease(3_600_000) }
  const running = runOperation(planned.job, deps, new AbortController().signal)
  const listeners = () => bench.redis.pubsub('NUMSUB', stopsChannel(namespace))
  await until(() => Promise.all([listeners(), requestsRunning()]), {
    holds: ([[, listening], count]) => listening === 1 && count === 1,
  })

  await bench.ledger.cancel(planned.runId, { reason: 'enough', origin: { kind: 'human', id: 'test' } })
  await until(requestsRunning, { holds: (count) => count === 0 }) // while the pool is open: the request itself was taken back
  await running
  expect((await bench.operation(planned)).outcome).toMatchObject({ status: 'cancelled', errorCode: 'AGENT_010' })
  expect(model.status()).toMatchObject({ waiting: 0, endpoints: [{ inFlight: 0, breaker: 'closed' }] })
  stops.close()
  await model.close()
})
