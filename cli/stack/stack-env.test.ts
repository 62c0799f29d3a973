import { describe, expect, it } from 'vitest'
import { servicesEnv, storeEnv, workerEnv } from './stack-env.ts'

const stores = storeEnv('redis://:secret@127.0.0.1:2', 'file:///objects', 'info')
const model = { urls: undefined, name: undefined, apiKey: 'model-key' }

const envOfWorker = (environment: Record<string, string>) =>
  workerEnv(stores, { modelUrls: 'http://127.0.0.1:3/v1', model, environment })

describe('the environment of a worker of the embedded stack', () => {
  it('has nothing of the surrounding one but what a worker reads, and not the token of the API', () => {
    const machine = { PATH: '/bin', NODE_COMPILE_CACHE: '/cache' }
    const surrounding = {
      REMORA_TOKEN: 'a-token-of-the-api',
      REMORA_SIGNING_KEY: 'k',
      HOME: '/home/me',
      GITHUB_TOKEN: 'x',
      ...machine,
    }
    expect(envOfWorker(surrounding)).toEqual({ ...envOfWorker({}), ...machine })
    expect(envOfWorker(surrounding)).toMatchObject({
      ...stores,
      REMORA_MODEL_URLS: 'http://127.0.0.1:3/v1',
      REMORA_MODEL_API_KEY: 'model-key',
    })
  })

  it('has what is set of its own variables, not what is blank and not what the stack decides', () => {
    const env = envOfWorker({
      REMORA_WORKER_SLOTS: '4',
      REMORA_LEASE_MS: ' ',
      REMORA_REDIS_URL: 'redis://elsewhere',
      AWS_SESSION_TOKEN: 'elsewhere',
      REMORA_WORKER_ID: 'the-same-for-all',
    })
    expect(env).toEqual({ ...envOfWorker({}), REMORA_WORKER_SLOTS: '4' })
  })

  it('has what is known of the model servers of the environment, and not of others that --model names', () => {
    const known = { REMORA_MODEL_POOL: '[{"url":"http://127.0.0.1:3/v1","max_in_flight":4}]' }
    expect(envOfWorker({ ...known, REMORA_MODEL_URLS: 'http://127.0.0.1:3/v1' })).toMatchObject(known)
    expect(envOfWorker({ ...known, REMORA_MODEL_URLS: 'http://127.0.0.1:4/v1' })).toMatchObject({
      REMORA_MODEL_POOL: '',
    })
  })

  it('knows the certificates and the proxy of this machine, which does not stand before the stack itself', () => {
    const certificates = { NODE_EXTRA_CA_CERTS: '/ca.pem', TMPDIR: '/scratch' }
    expect(envOfWorker({ ...certificates, SSL_CERT_FILE: '' })).toEqual({ ...envOfWorker({}), ...certificates })
    const proxy = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://proxy:3128' }
    expect(envOfWorker({ ...proxy, NO_PROXY: 'models' })).toEqual({
      ...envOfWorker({}),
      ...proxy,
      no_proxy: 'models,127.0.0.1,localhost',
    })
  })
})

describe("the environment of the stack's own services", () => {
  it('has the token and the port of this stack, whatever is set', () => {
    const environment = { REMORA_TOKEN: 'another-long-token', REMORA_API_PORT: '1', REMORA_API_HOST: '0.0.0.0' }
    const of = { token: 'the-token', signingKey: 'the-key', port: 8420 }
    const env = servicesEnv(stores, { ...of, environment, publisher: {} })
    expect(env).toMatchObject({ REMORA_TOKEN: 'the-token', REMORA_SIGNING_KEY: 'the-key', REMORA_API_PORT: '8420' })
    expect(env).not.toHaveProperty('REMORA_API_HOST')
  })
})
