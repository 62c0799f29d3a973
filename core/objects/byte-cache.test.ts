import { describe, expect, it } from 'vitest'
import { openByteCache } from './byte-cache.ts'

const bytes = (length: number) => new Uint8Array(length)

describe('openByteCache', () => {
  it('drops what has not been used for longest when it is full', () => {
    const cache = openByteCache(10)
    cache.set('a', bytes(4))
    cache.set('b', bytes(4))
    cache.get('a')
    cache.set('c', bytes(4))
    expect(cache.get('b')).toBeUndefined()
    expect(cache.get('a')).toHaveLength(4)
    expect(cache.get('c')).toHaveLength(4)
  })

  it('counts a replaced value once', () => {
    const cache = openByteCache(10)
    cache.set('a', bytes(6))
    cache.set('a', bytes(6))
    cache.set('b', bytes(4))
    expect(cache.get('a')).toHaveLength(6)
    expect(cache.get('b')).toHaveLength(4)
  })

  it('keeps no value over its whole size, and drops the old one it replaces', () => {
    const cache = openByteCache(10)
    cache.set('a', bytes(3))
    cache.set('a', bytes(11))
    expect(cache.get('a')).toBeUndefined()
  })
})
