import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openRemembered } from './remembered.ts'

const never = new AbortController().signal

describe('openRemembered', () => {
  it('asks once for callers that come together, and for each key', async () => {
    const loads: string[] = []
    const load = async (key: string) => `${key}${loads.push(key)}`
    const known = openRemembered({ load, keepMs: () => 60_000 })
    expect(await Promise.all([known.get('a', never), known.get('a', never), known.get('b', never)])).toEqual([
      'a1',
      'a1',
      'b2',
    ])
    expect(await known.get('a', never)).toBe('a1')
  })

  it('gives what it knew while it asks again', async () => {
    const next: PromiseWithResolvers<string>[] = [Promise.withResolvers(), Promise.withResolvers()]
    let loads = 0
    const load = async () => (await next[loads++]?.promise) ?? 'none'
    const known = openRemembered({ load, keepMs: () => 1 })
    next[0]?.resolve('old')
    expect(await known.get('a', never)).toBe('old')
    await until(async () => {
      expect(await known.get('a', never)).toBe('old')
      return loads === 2
    })
    next[1]?.resolve('new')
    await until(async () => (await known.get('a', never)) === 'new')
  })

  it('lets a caller go that is aborted, and answers the others', async () => {
    const loading = Promise.withResolvers<string>()
    const known = openRemembered({ load: () => loading.promise, keepMs: () => 60_000 })
    const abort = new AbortController()
    const [gone, staying] = [known.get('a', abort.signal), known.get('a', never)]
    const reason = new Error('gone')
    abort.abort(reason)
    await expect(gone).rejects.toBe(reason)
    loading.resolve('here')
    expect(await staying).toBe('here')
  })
})
