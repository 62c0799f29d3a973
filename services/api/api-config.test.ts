import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { apiEnv, parseConfig } from './api-config.ts'
import { testSigningKey } from '#testing/test-signer.ts'

describe('parseConfig', () => {
  it('keeps the token only as a hash', () => {
    const { config: api } = parseConfig({ REMORA_TOKEN: 'a-token-of-some-length', REMORA_SIGNING_KEY: testSigningKey })
    expect(api.tokens).toEqual([{ hash: sha256('a-token-of-some-length'), projectId: 'default' }])
    expect(api).toMatchObject({ host: '127.0.0.1', port: 8420, agentsDir: undefined, redisMemoryShare: 0.8 })
  })

  it('takes an empty variable for one that is not set: a limit stays on', () => {
    const empty = Object.fromEntries(Object.keys(apiEnv).map((name) => [name, '']))
    const set = { REMORA_TOKEN: 'a-token-of-some-length', REMORA_SIGNING_KEY: testSigningKey }
    expect(parseConfig({ ...empty, ...set })).toEqual(parseConfig(set))
    expect(parseConfig({ ...empty, ...set }).config).toMatchObject({ port: 8420, requestsPerSecond: 100 })
    expect(faultOf(() => parseConfig(empty)).message).toMatch(/REMORA_TOKEN.*REMORA_SIGNING_KEY/)
  })

  it('names every bad variable in one error', () => {
    const env = { REMORA_API_PORT: '99999', REMORA_MAX_UPLOAD_BYTES: 'big', REMORA_REDIS_MEMORY_SHARE: '80' }
    const fault = faultOf(() => parseConfig(env))
    expect(fault.code).toBe('CONFIG_003')
    for (const name of ['REMORA_TOKEN', 'REMORA_SIGNING_KEY', ...Object.keys(env)])
      expect(fault.message).toContain(name)
  })
})

function faultOf(work: () => unknown): AppError {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it did not fail')
}
