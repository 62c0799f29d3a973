/** Values by key up to a total of `maxBytes`; the longest unused goes first. A value over the limit is not kept. */
export type ByteCache = {
  get(key: string): Uint8Array | undefined
  set(key: string, value: Uint8Array): void
}

export function openByteCache(maxBytes: number): ByteCache {
  const values = new Map<string, Uint8Array>() // oldest use first
  let bytes = 0
  const drop = (key: string, value: Uint8Array) => {
    values.delete(key)
    bytes -= value.length
  }
  return {
    get(key) {
      const value = values.get(key)
      if (value === undefined) return undefined
      values.delete(key)
      values.set(key, value)
      return value
    },
    set(key, value) {
      const before = values.get(key)
      if (before !== undefined) drop(key, before)
      if (value.length > maxBytes) return
      values.set(key, value)
      bytes += value.length
      for (const [oldest, old] of values) {
        if (bytes <= maxBytes) return
        drop(oldest, old)
      }
    },
  }
}
