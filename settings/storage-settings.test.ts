import { describe, expect, it } from 'vitest'
import { readEnv } from '#platform/env.ts'
import { storageConfig, storageEnv, storageSecrets } from './storage-settings.ts'

const keys = { AWS_ACCESS_KEY_ID: 'ASIA', AWS_SECRET_ACCESS_KEY: 'hidden' }
const read = (env: Record<string, string>) => readEnv(storageEnv, env)

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

  it.each([{}, { AWS_SECRET_ACCESS_KEY: 'hidden' }, { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }])(
    'leave the credentials to the SDK with %j',
    (env) => {
      expect(storageConfig(read(env)).s3.credentials).toBeUndefined()
    },
  )
})
