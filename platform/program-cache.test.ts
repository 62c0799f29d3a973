import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bubblewrapDir, programCache } from './program-cache.ts'

describe('the folder of programs that were got', () => {
  it('is in the cache of the user', () => {
    expect(programCache({ HOME: '/home/me' })).toBe('/home/me/.cache/remora')
    expect(programCache({ HOME: '/home/me', XDG_CACHE_HOME: '/big' })).toBe('/big/remora')
  })

  it.each(['', ' ', '.', 'home', './home'])('is never one of the working folder, also with HOME=%j', (folder) => {
    const registered = join(userInfo().homedir, '.cache', 'remora')
    expect(programCache({ HOME: folder })).toBe(registered)
    expect(programCache({ HOME: folder, XDG_CACHE_HOME: folder })).toBe(registered)
    expect(programCache({ HOME: '/home/me', XDG_CACHE_HOME: folder })).toBe('/home/me/.cache/remora')
  })

  it('is not in the home of root for bubblewrap, which other users must find', () => {
    expect(bubblewrapDir({ HOME: '/root' }, true)).toBe('/var/cache/remora')
    expect(bubblewrapDir({ HOME: '/home/me' }, false)).toBe('/home/me/.cache/remora')
  })
})
