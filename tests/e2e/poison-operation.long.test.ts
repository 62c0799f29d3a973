import { beforeAll, describe, expect, it } from 'vitest'
import { readMetric } from '#testing/metric-value.ts'
import { until } from '#testing/until.ts'
import { type Service } from '../services.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'
import { useServices } from '../use-services.ts'

const poison = 'price_7'

describe('an operation that kills its worker every time', () => {
  const names = ['worker-1', 'worker-2', 'worker-3', 'worker-4']
  const services = useServices({ workers: names, workerEnv: { REMORA_LEASE_MS: '1500', REMORA_WORKER_SLOTS: '4' } })
  beforeAll(() => services.setModel('latency', { ms: 300 }))

  /** Kills every worker that begins the operation; returns the killed workers. */
  async function killStartingWorker(runId: string, operationId: string): Promise<Service[]> {
    const killed: Service[] = []
    for (let after = 0; ;) {
      const page = await services.api.events(runId, after, 200)
      for (const event of page.events) {
        if (event.event !== 'operation.started' || event.operation_id !== operationId) continue
        const worker = services.named(event.origin.id)
        worker.kill('SIGKILL')
        await worker.exited
        killed.push(worker)
      }
      after = page.next_after
      if (page.events.length === 0 && page.run_status === 'completed') return killed
    }
  }

  it('fails after three workers; all others succeed, and the run completes', async () => {
    const folder = await sourceFolder({ 'prices.py': manyFunctions(16) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    const target = await until(async () => {
      const operations = await services.api.operations(runId)
      return operations.find(({ node }) => node.qualified_name === poison)
    })
    const killed = await killStartingWorker(runId, target.operation_id)
    expect(killed).toHaveLength(3)
    const operations = await services.api.operations(runId)
    const failed = operations.filter(({ status }) => !['succeeded', 'unchanged'].includes(status))
    expect(failed).toMatchObject([
      { operation_id: target.operation_id, status: 'failed', attempt: 3, outcome: { error_code: 'TOOL_004' } },
    ])
    // The worker that ends an operation counts it; this one is ended by discovery.
    const ended = 'remora_operations_total{agent="docstring",status="failed",error_code="TOOL_004"}'
    expect(await readMetric(services.named('discovery').health, ended)).toBe(1)
    await folder.remove()
    await services.verify(runId)
  })
})
