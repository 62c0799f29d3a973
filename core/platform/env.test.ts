import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CommaList, readEnv, storageConfig, storageEnv, storageSecrets } from './env.ts'

const keys = { AWS_ACCESS_KEY_ID: 'ASIA', AWS_SECRET_ACCESS_KEY: 'hidden' }
const read = (env: Record<string, string>) => readEnv(storageEnv, env)

describe('readEnv', () => {
  it.each(['', ' '])('takes a variable that is %j for one that is not set', (none) => {
    const shape = { COUNT: z.coerce.number().default(7), NAME: z.string().optional(), LIST: CommaList.prefault('') }
    expect(readEnv(shape, { COUNT: none, NAME: none, LIST: none })).toEqual({ COUNT: 7, LIST: [] })
    expect(() => readEnv({ NEEDED: z.string() }, { NEEDED: none })).toThrow(/NEEDED/)
  })
})

describe('the storage variables', () => {
  it('may all be empty', () => {
    const empty = Object.fromEntries(Object.keys(storageEnv).map((name) => [name, '']))
    expect(storageConfig(read(empty))).toEqual(storageConfig(read({})))
    expect(storageConfig(read(empty)).s3.endpoint).toBeUndefined()
  })

  it('pass temporary credentials on whole, and keep them out of the logs', () => {
    const env = read({ ...keys, AWS_SESSION_TOKEN: 'token' })
    const credentials = { accessKeyId: 'ASIA', secretAccessKey: 'hidden', sessionToken: 'token' }
    expect(storageConfig(env).s3.credentials).toEqual(credentials)
    expect(storageSecrets(env)).toEqual(['hidden', 'token'])
  })

  it('need no session token, which may be empty', () => {
    const credentials = { accessKeyId: 'ASIA', secretAccessKey: 'hidden' }
    for (const env of [read(keys), read({ ...keys, AWS_SESSION_TOKEN: '' })]) {
      expect(storageConfig(env).s3.credentials).toStrictEqual(credentials)
    }
  })

  it.each([{}, { AWS_SECRET_ACCESS_KEY: 'hidden' }, { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }])(
    'leave the credentials to the SDK with %j',
    (env) => {
      expect(storageConfig(read(env)).s3.credentials).toBeUndefined()
    },
  )
})
