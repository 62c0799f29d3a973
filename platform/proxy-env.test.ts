import { describe, expect, it } from 'vitest'
import { proxyOf } from './env.ts'

describe('the proxies of the environment', () => {
  const set = { HTTP_PROXY: 'http://a:1', https_proxy: 'http://b:1', HTTPS_PROXY: 'http://c:1', NO_PROXY: 'd,e' }

  it('count with NODE_USE_ENV_PROXY=1 alone', () => {
    expect(proxyOf(set)).toBeUndefined()
    expect(proxyOf({ NODE_USE_ENV_PROXY: '1' })).toBeUndefined()
    const counted = { http: 'http://a:1', https: 'http://b:1', direct: 'd,e' }
    expect(proxyOf({ ...set, NODE_USE_ENV_PROXY: '1' })).toEqual(counted)
  })

  it('are URLs', () => {
    const words = 'HTTP_PROXY: must be a URL'
    expect(() => proxyOf({ HTTP_PROXY: 'proxy', NODE_USE_ENV_PROXY: '1' })).toThrow(words)
  })
})
