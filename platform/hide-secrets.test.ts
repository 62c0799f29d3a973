import { describe, expect, it } from 'vitest'
import { holdsSecret, withoutLogin, withoutLogins } from './hide-secrets.ts'

describe('an address that is shown', () => {
  it.each([
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1'],
    ['http://a/v1,http://b/v1', 'http://a/v1,http://b/v1'],
    ['http://sk-secret@host/v1', 'http://host/v1'],
    ['redis://:se,cret@host:6379/2', 'redis://host:6379/2'],
    ['http://u:se/cret@host/', 'http://***@host/'],
    ['http://u:se?cret@host/', 'http://***@host/'],
    ['redis+cluster://u:secret@h1:1,h2:2', 'redis+cluster://***@h1:1,h2:2'],
    ['http://a/v1,http://u:se,cret@b/v1', 'http://a/v1,http://b/v1'],
    ['https://host/v1?api_key=secret&version=2#secret', 'https://host/v1?api_key=***&version=***'],
    ['https://host/v1?secret', 'https://host/v1?***'],
    ['user:secret@host', '***@host'],
  ])('%s is %s', (address, shown) => {
    expect(withoutLogin(address)).toBe(shown)
    expect(withoutLogin(shown)).not.toContain('cret')
  })

  it('is the same within a message', () => {
    const message = 'no server at http://u:secret@host/v1: see "https://host/?key=secret" redis://:se,cret@h:1'
    expect(withoutLogins(message)).toBe('no server at http://host/v1: see "https://host/?key=***" redis://h:1')
    expect(withoutLogins('me@home: nothing')).toBe('me@home: nothing')
  })

  it('is known to hold a secret that a file must not have', () => {
    const secrets = ['http://sk-1@h', 'http://u:a/b@h', 'redis+cluster://u:p@a:1,b:2', 'http://h/?api_key=1']
    expect(secrets.every(holdsSecret)).toBe(true)
    expect(['http://h/v1', 'http://h/?api-version=2', 'redis://h:1', ''].some(holdsSecret)).toBe(false)
  })
})
