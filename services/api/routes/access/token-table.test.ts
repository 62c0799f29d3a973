import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { TokenRecord } from './token-record.ts'
import { openTokenTable } from './token-table.ts'

const record = (name: string): TokenRecord => ({
  tokenId: 't0123456789abcdef',
  projectId: 'default',
  name,
  scopes: ['runs:read'],
  createdAt: 0,
  expiresAt: null,
})

function countedStore() {
  const store = {
    reads: 0,
    held: new Map<string, TokenRecord>([['known', record('known')]]),
    async readAll() {
      store.reads += 1
      return { records: new Map(store.held) }
    },
  }
  return store
}

describe('openTokenTable', () => {
  it('asks it once or twice for any number of unknown ones that come at once', async () => {
    const store = countedStore()
    const table = openTokenTable(store)
    const found = await Promise.all(Array.from({ length: 1000 }, (_, index) => table.find(`unknown ${index}`)))
    expect(found.every((one) => one === undefined)).toBe(true)
    expect(store.reads).toBeLessThanOrEqual(2)
  })

  it('asks it at most four times a second, however many unknown ones come one after the other', async () => {
    const store = countedStore()
    const clock = { now: 0, delay: async (ms: number) => void (clock.now += ms) }
    const table = openTokenTable(store, { now: () => clock.now, delay: clock.delay })
    for (let index = 0; index < 100; index += 1) {
      clock.now += 10
      expect(await table.find(`unknown ${index}`)).toBeUndefined()
    }
    expect(store.reads).toBeGreaterThan(1)
    expect(store.reads).toBeLessThanOrEqual(1 + (4 * clock.now) / 1_000)
  })

  it('says that the store is away instead of refusing a token it cannot look up, and looks again', async () => {
    const store = countedStore()
    const away = { isAway: true }
    const readAll = async () => {
      if (away.isAway) throw new AppError('STORE_001', 'away')
      return store.readAll()
    }
    const table = openTokenTable({ readAll })
    await expect(table.find('known')).rejects.toMatchObject({ code: 'STORE_001' })
    away.isAway = false
    expect(await table.find('known')).toMatchObject({ name: 'known' })
  })
})
