import type { PooledServer } from './pooled-server.ts'

/** The metrics of a vLLM or llama.cpp server, as far as it has them. Counters are since its start. */
export type ServerMetrics = {
  /** Requests that it has accepted and not begun. */
  waiting?: number
  running?: number
  /** From 0 to 1; of the fullest cache, where it has several. */
  cacheUsage?: number
  /** Tokens that were looked up in the prefix cache, and those that were found. */
  prefixQueries?: number
  prefixHits?: number
}

type Join = (one: number, other: number) => number
type Reading = { of: keyof ServerMetrics; join: Join }

const sum: Join = (one, other) => one + other
const most: Join = (one, other) => Math.max(one, other)

/** vLLM's names, with the older ones (with `gpu_` until 0.9), and llama.cpp's, whose prompt tokens are the uncached ones. */
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
const joins = new Map(readings.flatMap(([names, { join }]) => names.map((name) => [name, join])))

/** A sample of the Prometheus text format; a quoted label may hold braces. */
const sample = /^((?:vllm|llamacpp):\w+)(?:\{(?:[^"}\n]|"(?:[^"\\\n]|\\.)*")*\})?[ \t]+(\S+)/gm

/** Reads the Prometheus text format, skipping what is no sample. Undefined without a sample of a model server. */
export function readServerMetrics(text: string): ServerMetrics | undefined {
  const values = new Map<string, number>()
  let isModelServer = false
  for (const [, name = '', value] of text.matchAll(sample)) {
    const number = Number(value)
    if (!Number.isFinite(number)) continue
    const plain = name.replace(/_total$/, '')
    isModelServer = true
    const join = joins.get(plain)
    if (join !== undefined) values.set(plain, join(values.get(plain) ?? 0, number))
  }
  if (!isModelServer) return undefined
  const metrics: ServerMetrics = {}
  for (const [names, { of, join }] of readings) {
    const found = names.map((name) => values.get(name)).filter((value) => value !== undefined)
    if (found.length === names.length) metrics[of] ??= found.reduce(join)
  }
  return metrics
}

/**
 * How many times the running requests may wait inside a server. Some always wait for their prompt to be read; with a lower
 * figure the pool avoids servers that are merely busy, and what it sends elsewhere finds nothing in the caches there: a
 * quarter of the requests per second less at 0.25 to 2 in bench/pool-bench.ts, and loads of 1.3 times the mean.
 */
const waitingPerRunning = 4
/** The least share of the limit that one cut keeps: metrics are a late sign of overload, not a refusal. */
const leastKept = 0.75

/**
 * Returns what is to be called with the metrics of every check: when too many requests wait inside the server at two checks
 * in a row, its limit is cut, and it takes two more checks until the next cut, so that what was sent before can finish. Every
 * process sees the same metrics and keeps the same share, so that all of them together keep that share, however many.
 */
export function openOverloadCheck({ limit }: Pick<PooledServer, 'limit'>) {
  let overloadedSince: number | undefined
  return ({ waiting = 0, running = 0 }: ServerMetrics, checkedAt: number): void => {
    const room = running * (1 + waitingPerRunning)
    const isOverloaded = running + waiting > room
    const stays = isOverloaded && overloadedSince !== undefined
    if (stays) limit.cut(checkedAt, { share: Math.max(leastKept, room / (running + waiting)) })
    overloadedSince = isOverloaded && !stays ? checkedAt : undefined
  }
}
