/** What a vLLM or llama.cpp server says of itself, as far as it says it. Counters are since its start. */
export type ServerMetrics = {
  /** Requests that it has taken and not begun. */
  waiting?: number
  running?: number
  /** From 0 to 1; the fullest, where it has several. */
  cacheUsage?: number
  /** Tokens that were looked for in the prefix cache, and those that were there. */
  prefixQueries?: number
  prefixHits?: number
}

type Join = (one: number, other: number) => number
type Reading = { of: keyof ServerMetrics; join: Join }

const sum: Join = (one, other) => one + other
const most: Join = (one, other) => Math.max(one, other)

/** By vLLM's names, older ones too (those with `gpu_` until 0.9), and llama.cpp's, whose prompt tokens are those it had not cached. */
const readings: readonly [names: readonly string[], reading: Reading][] = [
  [['vllm:num_requests_waiting'], { of: 'waiting', join: sum }],
  [['vllm:num_requests_running'], { of: 'running', join: sum }],
  [['vllm:kv_cache_usage_perc'], { of: 'cacheUsage', join: most }],
  [['vllm:gpu_cache_usage_perc'], { of: 'cacheUsage', join: most }],
  [['vllm:prefix_cache_queries'], { of: 'prefixQueries', join: sum }],
  [['vllm:gpu_prefix_cache_queries'], { of: 'prefixQueries', join: sum }],
  [['vllm:prefix_cache_hits'], { of: 'prefixHits', join: sum }],
  [['vllm:gpu_prefix_cache_hits'], { of: 'prefixHits', join: sum }],
  [['llamacpp:kv_cache_usage_ratio'], { of: 'cacheUsage', join: most }],
  [['llamacpp:requests_deferred'], { of: 'waiting', join: sum }],
  [['llamacpp:requests_processing'], { of: 'running', join: sum }],
  [['llamacpp:prompt_tokens', 'llamacpp:prompt_tokens_cached'], { of: 'prefixQueries', join: sum }],
  [['llamacpp:prompt_tokens_cached'], { of: 'prefixHits', join: sum }],
]
/** How the samples of one name are joined. */
const joins = new Map(readings.flatMap(([names, { join }]) => names.map((name) => [name, join])))

/** A sample of the Prometheus text format; a quoted label may hold braces. */
const sample = /^((?:vllm|llamacpp):\w+)(?:\{(?:[^"}\n]|"(?:[^"\\\n]|\\.)*")*\})?[ \t]+(\S+)/gm

/**
 * Reads the Prometheus text format. Anything that is none is passed over, and so is a value that is no number. Undefined
 * where no sample is of a model server.
 */
export function readServerMetrics(text: string): ServerMetrics | undefined {
  const values = new Map<string, number>()
  let isServer = false
  for (const [, name = '', value] of text.matchAll(sample)) {
    const number = Number(value)
    if (!Number.isFinite(number)) continue
    const plain = name.replace(/_total$/, '')
    isServer = true
    const join = joins.get(plain)
    if (join !== undefined) values.set(plain, join(values.get(plain) ?? 0, number))
  }
  if (!isServer) return undefined
  const metrics: ServerMetrics = {}
  for (const [names, { of, join }] of readings) {
    const found = names.map((name) => values.get(name)).filter((value) => value !== undefined)
    if (found.length === names.length) metrics[of] ??= found.reduce(join)
  }
  return metrics
}
