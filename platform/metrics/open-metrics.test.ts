import { describe, expect, it } from 'vitest'
import { openMetrics } from './open-metrics.ts'

const linesOf = async (metrics: { text(): Promise<string> }, name: string) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(name))

describe('the metrics of a service', () => {
  it('count, and sort times into the buckets of the catalogue', async () => {
    const metrics = openMetrics('worker')
    metrics.count('remora_attempts_total', { agent: 'lint', end: 'settled' })
    metrics.count('remora_attempts_total', { agent: 'lint', end: 'settled' }, 2)
    metrics.observe('remora_event_lag_seconds', {}, 0.3)
    expect(await linesOf(metrics, 'remora_attempts_total')).toEqual([
      'remora_attempts_total{agent="lint",end="settled"} 3',
    ])
    expect(await linesOf(metrics, 'remora_event_lag_seconds_bucket{le="0.1"')).toEqual([expect.stringMatching(/ 0$/)])
    expect(await linesOf(metrics, 'remora_event_lag_seconds_bucket{le="0.5"')).toEqual([expect.stringMatching(/ 1$/)])
  })

  it('are those of its own alone: another service’s are not there, and cost nothing', async () => {
    const metrics = openMetrics('api')
    metrics.count('remora_attempts_total', { agent: 'lint', end: 'settled' })
    expect(await linesOf(metrics, 'remora_attempts_total')).toEqual([])
    expect(await linesOf(metrics, 'process_cpu_seconds_total')).toHaveLength(1)
  })

  it('show a gauge as it is now, and none while it cannot be read: an old value would look like a new one', async () => {
    const metrics = openMetrics('discovery')
    let [states, isAway] = [['ready'], false]
    metrics.gauge('remora_operations', async () => {
      if (isAway) throw new Error('the store is away')
      return states.map((state) => ({ labels: { state }, value: 7 }))
    })
    metrics.gauge('remora_window', () => new Promise(() => {}))
    expect(await linesOf(metrics, 'remora_operations')).toEqual(['remora_operations{state="ready"} 7'])
    states = ['running']
    expect(await linesOf(metrics, 'remora_operations')).toEqual(['remora_operations{state="running"} 7'])
    isAway = true
    expect(await linesOf(metrics, 'remora_operations')).toEqual([])
    expect(await linesOf(metrics, 'remora_window')).toEqual([])
  })

  it('show what a label says, whatever it says', async () => {
    const metrics = openMetrics('worker')
    metrics.count('remora_model_requests_total', { server: 'http://a"b\\c\nd/v1', result: 'ok' })
    expect(await linesOf(metrics, 'remora_model_requests_total')).toEqual([
      'remora_model_requests_total{server="http://a\\"b\\\\c\\nd/v1",result="ok"} 1',
    ])
  })
})
