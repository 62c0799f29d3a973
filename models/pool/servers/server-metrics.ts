import type { PooledServer } from './pooled-server.ts'

/** The metrics of a vLLM or llama.cpp server, as far as it has them. Counters are since its start. */
export type ServerMetrics = {
  /** Requests that it has accepted and not begun. */
  waiting?: number
  running?: number
  /** Is 0 to 1; of the fullest cache, where it has several. */
  cacheUsage?: number
  /** Count the tokens that were looked up in the prefix cache, and those that were found. */
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
 * A server may have this many waiting requests for each running one. Some always wait for their prompt to be read; with
 * a lower figure the pool avoids servers that are merely busy, and what it sends elsewhere finds nothing in the caches there: at 4 a
 * tenth to a fifth of the requests per second less in bench/pool-bench.ts, and loads of 1.4 to 2 times the mean.
 */
const waitingPerRunning = 8
/** One cut keeps at least this share of what is in flight: metrics are a late sign of overload, not a refusal. */
const leastKept = 0.75

/**
 * Returns what is to be called with the metrics of every check: when too many requests wait inside the server at two checks
 * in a row, the limit that all processes share is cut to a share of what they have in flight, and it takes two more checks
 * until the next cut, so that what was sent before can finish.
 */
export function openOverloadCheck({ slots }: Pick<PooledServer, 'slots'>) {
  let wasOverloaded = false
  return ({ waiting = 0, running = 0 }: ServerMetrics): void => {
    const room = running * (1 + waitingPerRunning)
    const isOverloaded = running + waiting > room
    const stays = isOverloaded && wasOverloaded
    if (stays) slots.cut(Math.max(leastKept, room / (running + waiting)))
    wasOverloaded = isOverloaded && !stays
  }
}
