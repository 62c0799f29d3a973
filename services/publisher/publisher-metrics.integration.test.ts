import { describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from './published-run.fixture.ts'

describe.skipIf(lacks('git'))('the metrics of a publisher', () => {
  const at = usePublisher()
  /** The samples of a metric as Prometheus reads them, by their labels. */
  async function samples(name: string): Promise<Record<string, number>> {
    const lines = (await at.publisher.metrics.text())
      .split('\n')
      .filter((line) => new RegExp(`^${name}(?:\\{| )`).test(line))
    return Object.fromEntries(lines.map((line) => [/\{(.*)\}/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]))
  }
  const changes = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]

  it('count what became of publications, pull requests and requests, without a name of a repository', async () => {
    await at.published({ changes })
    await at.repository.closePull(1)
    await at.publisher.takeAll()
    await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
    await at.published({ changes: [{ name: 'two', path: 'b.py', from: '1', to: '2' }] })
    const publications = await samples('remora_publications_total')
    expect(Object.fromEntries(Object.entries(publications).filter(([, count]) => count > 0))).toEqual({
      'outcome="published",error_code=""': 1,
      'outcome="failed",error_code="PUBLISH_002"': 1,
    })
    expect(await samples('remora_pull_requests_total')).toEqual({ 'change="opened"': 1, 'change="closed"': 1 })
    expect((await samples('remora_host_requests_total'))['result="2xx"']).toBeGreaterThan(5)
    const share = (await samples('remora_host_limit_left_share'))['']
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(1)
    expect(await at.publisher.metrics.text()).not.toMatch(/shop|acme/)
  })

  it('count faults from 0 on, so that Prometheus sees the first one rise', async () => {
    const counted = Object.keys(await samples('remora_publications_total'))
    expect(counted).toEqual(expect.arrayContaining(['outcome="failed",error_code="HOST_003"']))
    expect(counted).toEqual(expect.arrayContaining(['outcome="failed",error_code="HTTP_007"']))
  })

  it('show how long the one that waits has waited', async () => {
    const runId = await at.play({ changes })
    await at.publisher.host().publishing.look(runId, Date.now() - 60_000)
    expect((await samples('remora_publications_overdue_seconds'))['']).toBeGreaterThan(59)
  })
})
