import type { Redis } from 'ioredis'
import type { RunId } from '#domain/ids.ts'

/**
 * Everything that Redis stores of a run: its keys, and its entries in indexes and results. Without the times at which its leases and the
 * claim of its conductor expire and at which a wanted retry was last noted.
 */
export async function runState(redis: Redis, namespace: string, runId: RunId): Promise<unknown> {
  const own = await contentsOf(redis, `${namespace}:{${runId}}:*`)
  const indexes = await contentsOf(redis, `${namespace}:{all}:*`)
  const results = await redis.xrange(`${namespace}:results`, '-', '+')
  const published = await redis.hget(`{${namespace}:results}:published`, runId)
  const mine = results.map(([, fields]) => fields).filter((fields) => fields.includes(runId))
  const counted = await redis.hget(`{${namespace}:results}:counted`, runId)
  const ranges = await redis.xrange(`${namespace}:events`, '-', '+')
  const told = {
    last: await redis.hget(`{${namespace}:events}:told`, runId),
    ranges: ranges.map(([, fields]) => fields).filter((fields) => fields.includes(runId)),
  }
  return { own, indexes: indexes.flatMap((index) => ofRun(index, runId)), results: mine, published, counted, told }
}

const anyTime = /\b1[789]\d{11}\b/g
const oneTime = '1700000000000'

/**
 * `value` as JSON has it, with every time in ms the same and `runId` replaced: alike for runs with the same history.
 */
export function withoutTimes(value: unknown, runId: RunId): unknown {
  const text = JSON.stringify({ value })
  return JSON.parse(text.replaceAll(runId, 'the-run').replaceAll(anyTime, oneTime))
}

type KeyContent = { key: string; content: [string, string][] | string | string[] | null }

async function contentsOf(redis: Redis, pattern: string): Promise<KeyContent[]> {
  const keys = (await redis.keys(pattern)).toSorted()
  return Promise.all(keys.map(async (key) => ({ key, content: await contentOf(redis, key) })))
}

async function contentOf(redis: Redis, key: string): Promise<KeyContent['content']> {
  if (/:(?:leases|retrying)$/.test(key)) return redis.zrange(key, '0', '-1')
  if (key.endsWith(':pace')) return sumOf(await redis.hvals(key))
  const type = await redis.type(key)
  if (type === 'string') return redis.get(key)
  if (type === 'hash') {
    const { until: _, ...fields } = await redis.hgetall(key)
    return fieldsOf(fields)
  }
  if (type === 'zset') return pairs(await redis.zrange(key, '0', '-1', 'WITHSCORES'))
  if (type === 'list') return redis.lrange(key, 0, -1)
  if (type === 'set') return (await redis.smembers(key)).toSorted()
  return (await redis.xrange(key, '-', '+')).map(([id, fields]): [string, string] => [id, JSON.stringify(fields)])
}

/** What the ten seconds of the pace have had together: when they began depends on the clock. */
function sumOf(tens: readonly string[]): string {
  const figures = tens.map((text) => text.split(' ').slice(1).map(Number))
  return [0, 1, 2].map((at) => figures.reduce((sum, ten) => sum + (ten[at] ?? 0), 0)).join(' ')
}

function fieldsOf(stored: Record<string, string>): [string, string][] {
  return Object.entries(stored).toSorted(([one], [other]) => one.localeCompare(other))
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((member, index): [string, string][] => (index % 2 === 0 ? [[member, flat[index + 1] ?? '']] : []))
}

function ofRun({ key, content }: KeyContent, runId: RunId): { key: string; content: unknown[] }[] {
  const entries: readonly (string | [string, string])[] = Array.isArray(content) ? content : []
  const own = entries.filter((entry) => entry.includes(runId) || entry[0]?.endsWith(`/${runId}`))
  return own.length > 0 ? [{ key, content: own }] : []
}
