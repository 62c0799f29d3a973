import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCliConfig } from './config.ts'
import { programCache } from './program-cache.ts'

const cacheWith = (env: Readonly<Record<string, string>>) => programCache(readCliConfig(env))

describe('the folder of programs that were got', () => {
  it('is in the cache of the user', () => {
    expect(cacheWith({ HOME: '/home/me' })).toBe('/home/me/.cache/remora')
    expect(cacheWith({ HOME: '/home/me', XDG_CACHE_HOME: '/big' })).toBe('/big/remora')
  })

  it.each(['', ' ', '.', 'home', './home'])('is never one of the working folder, also with HOME=%j', (folder) => {
    const registered = join(userInfo().homedir, '.cache', 'remora')
    expect(cacheWith({ HOME: folder })).toBe(registered)
    expect(cacheWith({ HOME: folder, XDG_CACHE_HOME: folder })).toBe(registered)
    expect(cacheWith({ HOME: '/home/me', XDG_CACHE_HOME: folder })).toBe('/home/me/.cache/remora')
  })
})
