import { describe, expect, it } from 'vitest'
import { storageEnv } from '#settings/storage-settings.ts'
import { readEnv } from './env.ts'
import { parseRedisUrl } from './server-urls.ts'

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
    'http://127.0.0.1',
    'redis+sentinel://a:1',
    'redis+sentinel://a:1/',
    'redis+sentinel://a:1/na/me',
    'redis+other://a:1',
    'redis+cluster://',
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
