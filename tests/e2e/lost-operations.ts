import { describe, expect, it } from 'vitest'
import { TranscriptView } from '#schemas/transcript-schema.ts'
import { readMetric } from '#testing/metric-value.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { descendantsOf, stillRunning } from '../living-processes.ts'
import { manyFunctions, sourceFolder, undocumented } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

type Way = { way: string; signal: 'SIGKILL' | 'SIGTERM'; exit: string | number; reason: string; leaseMs: string }

export const killed: Way = { way: 'killed', signal: 'SIGKILL', exit: 'SIGKILL', reason: 'lost', leaseMs: '2000' }

/**
 * A worker that is told to stop hands back what it has: its lease must not run out before, however slow the machine is. A job
 * that it fetches just as it ends, and that nobody has begun, comes back when its lock has run out, half a lease later.
 */
export const toldToStop: Way = {
  way: 'told to stop, and out of time to finish,',
  signal: 'SIGTERM',
  exit: 0,
  reason: 'drain',
  leaseMs: '60000',
}

/** Declares the tests of a worker that ends this way with operations in its hands. */
export function testLostOperations({ way, signal, exit, reason, leaseMs }: Way): void {
  describe(`a worker that is ${way} while it runs operations`, () => {
    const services = useServices({
      workers: ['worker-1', 'worker-2'],
      workerEnv: { REMORA_LEASE_MS: leaseMs, REMORA_WORKER_SLOTS: '4', REMORA_DRAIN_MS: '1' },
    })

    const answerAfter = (ms: number) => services.setModel('latency', { ms })

    /** Operations that `worker` has begun and not ended. */
    async function heldBy(worker: string, runId: string): Promise<string[]> {
      const { events } = await services.api.events(runId, 0, 1000)
      const ended = new Set(events.flatMap((one) => (one.event === 'operation.ended' ? [one.operation_id] : [])))
      const begun = events.filter((one) => one.event === 'operation.started' && one.origin.id === worker)
      return begun.flatMap(({ operation_id: id }) => (id === undefined || ended.has(id) ? [] : [id]))
    }

    async function transcriptOf(runId: string, operationId: string, query = ''): Promise<TranscriptView> {
      const answer = await services.api.ask(`/v1/runs/${runId}/operations/${operationId}/transcript${query}`)
      return TranscriptView.parse(await answer.json())
    }

    it.skipIf(lacks('git'))('loses no operation: another worker tries them again, and the run completes', async () => {
      const folder = await sourceFolder({ 'prices.py': manyFunctions(12) })
      await answerAfter(4000) // an operation asks once: four seconds
      const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
      await until(() => Promise.all([heldBy('worker-1', runId), heldBy('worker-2', runId)]), {
        holds: (held) => held.every(({ length }) => length > 0),
      })
      const [talking = ''] = await heldBy('worker-1', runId)
      const said = await until(() => transcriptOf(runId, talking), { holds: ({ entries }) => entries.length > 1 })
      const worker = services.named('worker-1')
      const children = await descendantsOf(worker.pid)
      worker.kill(signal)
      expect(await worker.exited).toBe(exit)
      const held = await heldBy('worker-1', runId)
      await answerAfter(0)

      expect(held.length).toBeGreaterThan(0)
      const { events, status } = await services.api.follow(runId)
      expect(status).toBe('completed')
      const retried = events.filter((one) => one.event === 'operation.retried')
      expect(retried).toHaveLength(held.length)
      expect(new Set(retried.map((one) => one.operation_id))).toEqual(new Set(held))
      for (const { data } of retried) expect(data).toMatchObject({ reason, attempt: 1 })
      const operations = await services.api.operations(runId)
      expect(operations).toHaveLength(12)
      expect(operations.filter((one) => !['succeeded', 'unchanged'].includes(one.status))).toEqual([])
      const left = await transcriptOf(runId, talking, '?attempt=1')
      expect(left).toMatchObject({ attempt: 1, attempts: [1, 2], status: 'succeeded', outcome: null })
      expect(left.entries.slice(0, said.entries.length)).toEqual(said.entries)
      const again = operations.filter((one) => one.attempt > 1).map((one) => one.operation_id)
      expect(again.toSorted()).toEqual(held.toSorted())
      const swept = 'remora_recovered_operations_total{how="swept"}'
      const taken = reason === 'lost' ? held.length : 0 // what is handed back is not taken
      expect(await readMetric(services.named('discovery').health, swept)).toBe(taken)
      await until(() => stillRunning(children), { holds: ({ length }) => length === 0 })

      const patch = await services.api.ask(`/v1/runs/${runId}/patch`)
      await folder.apply(await patch.text())
      expect(await folder.read('prices.py')).not.toMatch(undocumented)
      await folder.remove()
      await services.verify(runId)
    })
  })
}
