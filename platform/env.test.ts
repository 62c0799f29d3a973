import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { variablesOf } from '#settings/setting.ts'
import { proxyOf, readEnv } from './env.ts'

const { LIST } = variablesOf({ LIST: { owners: ['api'], type: z.array(z.string()), default: [], about: '' } }, 'api')

describe('readEnv', () => {
  it.each(['', ' '])('takes a variable that is %j for one that is not set', (none) => {
    const shape = { COUNT: z.coerce.number().default(7), NAME: z.string().optional(), LIST }
    expect(readEnv(shape, { COUNT: none, NAME: none, LIST: none })).toEqual({ COUNT: 7, LIST: [] })
    expect(() => readEnv({ NEEDED: z.string() }, { NEEDED: none })).toThrow(/NEEDED/)
  })
})

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
