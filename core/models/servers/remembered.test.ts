import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openRemembered } from './remembered.ts'

const never = new AbortController().signal

describe('openRemembered', () => {
  it('asks once for callers that come together, and for each key', async () => {
    const loads: string[] = []
    const load = async (key: string) => ({ said: `${key}${loads.push(key)}` })
    const known = openRemembered({ load, keepMs: () => 60_000 })
    const asked = await Promise.all([known.get('a', never), known.get('a', never), known.get('b', never)])
    expect(asked.map(({ said }) => said)).toEqual(['a1', 'a1', 'b2'])
    expect(await known.get('a', never)).toEqual({ said: 'a1' })
  })

  it('gives what it knew while it asks again', async () => {
    const next: PromiseWithResolvers<{ said: string }>[] = [Promise.withResolvers(), Promise.withResolvers()]
    let loads = 0
    const load = async () => (await next[loads++]?.promise) ?? { said: 'none' }
    const known = openRemembered({ load, keepMs: () => 1 })
    next[0]?.resolve({ said: 'old' })
    expect(await known.get('a', never)).toEqual({ said: 'old' })
    await until(async () => {
      expect(await known.get('a', never)).toEqual({ said: 'old' })
      return loads === 2
    })
    next[1]?.resolve({ said: 'new' })
    await until(async () => (await known.get('a', never)).said === 'new')
  })

  it('lets a caller go that is aborted, and answers the others', async () => {
    const loading = Promise.withResolvers<{ said: string }>()
    const known = openRemembered({ load: () => loading.promise, keepMs: () => 60_000 })
    const abort = new AbortController()
    const [gone, staying] = [known.get('a', abort.signal), known.get('a', never)]
    const reason = new Error('gone')
    abort.abort(reason)
    await expect(gone).rejects.toBe(reason)
    loading.resolve({ said: 'here' })
    expect(await staying).toEqual({ said: 'here' })
  })
})
