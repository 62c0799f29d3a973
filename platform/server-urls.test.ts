import { describe, expect, it } from 'vitest'
import { storageEnv } from '#settings/storage-settings.ts'
import { readEnv } from './env.ts'
import { faultOfServerUrl, modelServerUrl, parseRedisUrl } from './server-urls.ts'

describe('the address of Redis', () => {
  it.each(['redis://127.0.0.1:6379', 'rediss://user:secret@redis.example:6380/2'])('may be one server: %s', (url) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'server' })
  })

  it('may be some nodes of a cluster', () => {
    expect(parseRedisUrl('redis+cluster://10.0.0.1:7000,redis-b,[::1]:7002')).toStrictEqual({
      kind: 'cluster',
      nodes: [
        { host: '10.0.0.1', port: 7000 },
        { host: 'redis-b', port: 6379 },
        { host: '::1', port: 7002 },
      ],
      tls: false,
    })
  })

  it('names the user and the password of a cluster once, percent-encoded', () => {
    expect(parseRedisUrl('rediss+cluster://remora:p%40ss:w%2Frd@a:1,b:2')).toMatchObject({
      username: 'remora',
      password: 'p@ss:w/rd',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      tls: true,
    })
    expect(parseRedisUrl('redis+cluster://:secret@a:1')).toStrictEqual({
      kind: 'cluster',
      nodes: [{ host: 'a', port: 1 }],
      password: 'secret',
      tls: false,
    })
  })

  it('may be some sentinels and the name of their master', () => {
    expect(parseRedisUrl('rediss+sentinel://remora:p%40ss@10.0.0.1,b:7/main-1')).toStrictEqual({
      kind: 'sentinel',
      name: 'main-1',
      nodes: [
        { host: '10.0.0.1', port: 26_379 },
        { host: 'b', port: 7 },
      ],
      username: 'remora',
      password: 'p@ss',
      tls: true,
    })
  })

  it.each([
    'redis+sentinel://a:1',
    'redis+sentinel://a:1/na/me',
    'redis+other://a:1',
    'redis+cluster://a:1,',
    'redis+cluster://a:1,b:70000',
    'redis+cluster://a:1,other@b:2',
    'redis+cluster://a:1/3',
    'redis+cluster://user:%zz@a:1',
  ])('is refused when it is %j, by the name of its variable', (url) => {
    expect(parseRedisUrl(url)).toBeUndefined()
    expect(() => readEnv(storageEnv, { REMORA_REDIS_URL: url })).toThrow(
      expect.objectContaining({ code: 'CONFIG_003', message: expect.stringContaining('REMORA_REDIS_URL') }),
    )
  })
})

describe('the address of a model server', () => {
  it.each(['http://host:8000/v1', 'https://host/team/v1/', 'http://[::1]:1'])('may be %s', (text) => {
    expect(faultOfServerUrl(text)).toBeUndefined()
  })

  it.each([
    ['localhost:8000/v1', 'must begin with http:// or https://, such as http://host:8000/v1, not localhost:8000/v1'],
    ['ftp://host/v1', 'must begin with http:// or https://, such as http://host:8000/v1, not ftp://host/v1'],
    [
      'http://me:secret@host/v1',
      'must be without a login, since none is sent (a key goes into REMORA_MODEL_API_KEY): http://host/v1',
    ],
    ['http://host/v1?api-version=2', 'must be without a query, since none is sent: http://host/v1?api-version=***'],
  ])('is not %s, which is said without its secrets', (text, words) => {
    expect(faultOfServerUrl(text)).toBe(words)
  })

  it.each([
    ['http://host:8000', 'http://host:8000/v1'],
    ['http://host/team/v2/', 'http://host/team/v2'],
  ])('%s means %s', (text, url) => {
    expect(modelServerUrl(text)).toBe(url)
  })
})
