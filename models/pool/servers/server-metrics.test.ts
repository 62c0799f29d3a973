import { describe, expect, it } from 'vitest'
import { readServerMetrics } from './server-metrics.ts'

const vllm = `# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_running{engine="0",model_name="a } b"} 3.0
vllm:num_requests_waiting{engine="0",model_name="gemma"} 2.0
vllm:num_requests_waiting{engine="1",model_name="say \\"}\\""} 5.0 1700000000000
vllm:num_requests_waiting_by_reason{engine="0"} 99
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.5
vllm:prefix_cache_queries_total{engine="0"} 1.2e+03
vllm:prefix_cache_hits_total{engine="0"} 900.0
vllm:prefix_cache_hits_created{engine="0"} 1.7e+09
process_cpu_seconds_total 12.5
`

describe('the metrics of a server', () => {
  it('are read by vLLM’s names, over all its engines', () => {
    expect(readServerMetrics(vllm)).toEqual({
      waiting: 7,
      running: 3,
      cacheUsage: 0.5,
      prefixQueries: 1200,
      prefixHits: 900,
    })
  })

  it('are read by older names, and with CRLF', () => {
    const old = 'vllm:gpu_cache_usage_perc 0.125\r\nvllm:gpu_prefix_cache_queries 8\r\nvllm:gpu_prefix_cache_hits 2\r\n'
    expect(readServerMetrics(old)).toEqual({ cacheUsage: 0.125, prefixQueries: 8, prefixHits: 2 })
  })

  it('are read by llama.cpp’s names, whose prompt tokens leave out those that were cached', () => {
    const llama = [
      '# TYPE llamacpp:prompt_tokens_total counter',
      'llamacpp:prompt_tokens_total 237',
      'llamacpp:prompt_tokens_cached_total 270',
      'llamacpp:prompt_tokens_seconds 81.5047',
      'llamacpp:requests_processing 2',
      'llamacpp:requests_deferred 3',
    ]
    expect(readServerMetrics(llama.join('\n'))).toEqual({
      waiting: 3,
      running: 2,
      prefixQueries: 507,
      prefixHits: 270,
    })
    expect(readServerMetrics(llama[1] ?? '')).toEqual({})
  })

  it.each([
    ['nothing', ''],
    ['a page', '<html>vllm:num_requests_waiting 1</html>'],
    ['no number', 'vllm:num_requests_waiting NaN\nvllm:num_requests_running{} +Inf\nvllm:kv_cache_usage_perc x\n'],
    ['half a line', 'vllm:num_requests_waiting{engine="0'],
    ['an open quote', `vllm:num_requests_waiting{a="${'\\"'.repeat(50_000)}`],
  ])('are unknown from %s', (_what, text) => {
    expect(readServerMetrics(text) ?? {}).toEqual({})
  })

  it('are read of as many samples as a page may have', () => {
    const many = Array.from({ length: 130_000 }, (_, at) => `vllm:kv_cache_usage_perc{engine="${at}"} 0.5\n`)
    expect(readServerMetrics(many.join(''))).toEqual({ cacheUsage: 0.5 })
  })

  it('come of a text that is cut anywhere without a value that is not in it', () => {
    const whole = readServerMetrics(vllm)
    for (let end = 0; end < vllm.length; end++) {
      const cut = readServerMetrics(vllm.slice(0, end))
      for (const [name, value] of Object.entries(cut ?? {}))
        expect(value, `${name} of ${end}`).toBeLessThanOrEqual(1700)
    }
    expect(Object.keys(whole ?? {})).toHaveLength(5)
  })
})
