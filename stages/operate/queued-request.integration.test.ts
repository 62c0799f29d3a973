import { describe, expect, it } from 'vitest'
import { openModelPool } from '#models/model-pool.ts'
import { openLocalSlots, type SlotSource } from '#models/pool/slots/slots.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openAttemptStop } from './attempt/attempt-stop.ts'
import { openOperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return f"shelf"\n'
const timeoutS = 3

/** Slots that others have, until `open` is called. */
function takenSlots() {
  let [isOpen, listener] = [false, () => {}]
  const slots: SlotSource = {
    at: (server, most) => ({
      ...openLocalSlots().at(server, most),
      take: () => (isOpen ? 'taken' : 'full'),
      give: () => {},
    }),
    listen: (given) => void (listener = given),
    close: async () => {},
  }
  const open = () => {
    isOpen = true
    listener()
  }
  return { slots, open }
}

describe('an operation whose request waits for a slot', () => {
  const bench = useOpened(openOperationBench)

  it('waits longer than its time limit without using it, and says for how long', async () => {
    const bundle = await bench.bundle('lint')
    bundle.file.limits.timeout_s = timeoutS
    const planned = await bench.planned(bundle, source, 'shelf')
    const { slots, open } = takenSlots()
    const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 10_000, maxInFlight: 1 }
    const model = openModelPool({ endpoints: [{ url: bench.modelUrl }], slots, ...limits })
    const running = runOperation(planned.job, { ...bench.deps, model }, never)
    await until(() => model.status(), { holds: ({ waiting }) => waiting === 1 })
    const longer = openAttemptStop([], 1.2 * timeoutS * 1000)
    await until(() => longer.signal.aborted)
    open()
    await running
    await model.close()
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 1 })
    const [first] = (await bench.record(operation)).exchanges
    const waitedMs = first?.queueMs ?? 0
    expect(waitedMs).toBeGreaterThan(timeoutS * 1000)
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    const answered = events.find(({ event }) => event === 'model.responded')
    expect(answered).toMatchObject({ data: { queue_ms: waitedMs } })
  })
})
