import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'

export type RateLimit = {
  /** It counts the request if one more may be made now. */
  take(key: string): boolean
  size(): number
}

const maxKeys = 10_000

/** Each key has `burst` requests at once, refilled at `perSecond`; 0 means no limit. Each process counts for itself. */
export function openRateLimit(
  { perSecond, burst }: { perSecond: number; burst: number },
  nowMs: () => number = () => performance.now(),
): RateLimit {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: maxKeys })
  return {
    take(key) {
      if (perSecond === 0) return true
      const now = nowMs()
      const { left, at } = buckets.get(key) ?? { left: burst, at: now }
      const filled = Math.min(burst, left + ((now - at) / 1000) * perSecond)
      const taken = filled >= 1
      buckets.set(key, { left: taken ? filled - 1 : filled, at: now })
      return taken
    },
    size: () => buckets.size,
  }
}

/** An IPv6 address counts by its /64, which one subscriber has (RFC 6177), unless it is an IPv4 one (`::ffff:192.0.2.1`). */
export function addressKey(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const first = [...before, ...Array<number>(zeros).fill(0), ...after].slice(0, 4)
  return `${first.map((group) => group.toString(16)).join(':')}::/64`
}

/** An IPv4 address at the end stands for two groups, whose values do not matter here. */
function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]))
}
