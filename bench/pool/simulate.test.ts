import { describe, expect, it } from 'vitest'
import { faulty, manyBundles, singleBundle } from './scenarios.ts'
import { simulate, type Scenario } from './simulate.ts'

/** A tenth of the bench's: enough for what it shows. */
const requests = 2_000
const small = (scenario: Scenario): Scenario => ({ ...scenario, requests })

describe('the pool over simulated replicas', () => {
  it('serves many bundles at least one and a half times as fast as round robin, evenly', async () => {
    const [ours, base] = [await simulate('ours', small(manyBundles)), await simulate('round robin', small(manyBundles))]
    expect(ours.requestsPerS).toBeGreaterThan(1.5 * base.requestsPerS)
    expect(ours.hitRate).toBeGreaterThan(base.hitRate)
    expect(ours.busiest.overall).toBeLessThan(1.25)
    expect(ours.lost + base.lost).toBe(0)
  })

  it('is as fast as the others where all requests begin alike', async () => {
    const [ours, base] = [
      await simulate('ours', small(singleBundle)),
      await simulate('least loaded', small(singleBundle)),
    ]
    expect(ours.requestsPerS).toBeGreaterThan(0.95 * base.requestsPerS)
    expect(ours.busiest.worst).toBeLessThan(1.26) // the bound is rounded up to a request
  })

  it('loses and stalls no request when a replica dies and another is slow', async () => {
    const faults = [
      { after: 500, server: 2, fault: 'dies' },
      { after: 1000, server: 5, fault: 'slow' },
    ] as const
    const ours = await simulate('ours', { ...small(faulty), faults })
    expect(ours.lost).toBe(0)
    expect(ours.latencyMs.most).toBeLessThan(20_000)
  })

  it('plays the same seed alike', async () => {
    const once = () => simulate('ours', { ...small(manyBundles), requests: 500 })
    expect(await once()).toEqual(await once())
  })
})
