import { describe, expect, it } from 'vitest'
import { newWorkerId, parseConfig } from './worker-config.ts'

describe('the name of a worker', () => {
  it('is the configured one, or a new one each time, which would be valid as a configured one', () => {
    expect(parseConfig({ REMORA_WORKER_ID: 'w1' }).config.workerId).toBe('w1')
    const [one, other] = [newWorkerId('box'), newWorkerId('box')]
    expect(one).toMatch(/^worker-box-\d+-[0-9a-f]{6}$/)
    expect(other).not.toBe(one)
    expect(parseConfig({}).config.workerId).not.toBe(parseConfig({}).config.workerId)
  })

  it.each([
    ['box.example.org', 'worker-box-'],
    ['größe/1', 'worker-gr--e-1-'],
    ['x'.repeat(253), 'worker-x'],
    ['', 'worker--'],
  ])('is valid on a host called %j', (host, start) => {
    const id = newWorkerId(host)
    expect(id.startsWith(start)).toBe(true)
    expect(parseConfig({ REMORA_WORKER_ID: id }).config.workerId).toBe(id)
  })
})

describe('the secrets of a worker', () => {
  it('are its keys and its token', () => {
    const keys = { AWS_SECRET_ACCESS_KEY: 'hidden', AWS_SESSION_TOKEN: 'token' }
    expect(parseConfig({ ...keys, REMORA_MODEL_API_KEY: 'sk-1' }).secrets).toEqual(['sk-1', 'hidden', 'token'])
  })
})

describe('how a worker asks', () => {
  it('requires a tool call, unless configured otherwise', () => {
    expect(parseConfig({}).config.model.toolChoice).toBe('required')
    expect(parseConfig({ REMORA_MODEL_TOOL_CHOICE: 'auto' }).config.model.toolChoice).toBe('auto')
    expect(() => parseConfig({ REMORA_MODEL_TOOL_CHOICE: 'none' })).toThrow(/REMORA_MODEL_TOOL_CHOICE/)
  })
})

describe('streaming', () => {
  it('is off unless it is asked for, in words that are understood', () => {
    const stream = (value?: string) => parseConfig({ REMORA_MODEL_STREAM: value }).config.model.stream
    expect([stream(), stream(''), stream('false'), stream('true')]).toEqual([false, false, false, true])
    expect(() => stream('yes')).toThrow(/REMORA_MODEL_STREAM/)
  })
})

describe('the model servers of a worker', () => {
  const urls = { REMORA_MODEL_URLS: 'http://a/v1,http://b/v1' }
  const servers = (env: Record<string, string>) => parseConfig({ ...urls, ...env }).config.model.servers

  it('have their configured models and limit, the others 64 requests at once', () => {
    const details = [{ url: 'http://b/v1/', models: ['small', 'small-lora'], max_in_flight: 8 }]
    const [a, b] = servers({ REMORA_MODEL_POOL: JSON.stringify(details) })
    expect(a).toEqual({ url: 'http://a/v1', models: [], maxInFlightOfAll: 64 })
    expect(b).toEqual({ url: 'http://b/v1', models: ['small', 'small-lora'], maxInFlightOfAll: 8 })
    expect(servers({ REMORA_MODEL_MAX_IN_FLIGHT: '3' }).map((server) => server.maxInFlightOfAll)).toEqual([3, 3])
  })

  it('are those of REMORA_MODEL_POOL where it alone names any, else the rehearsal model', () => {
    const pool = JSON.stringify([{ url: 'http://c/v1', models: ['lora'], max_in_flight: 8 }])
    const read = (env: Record<string, string>) => parseConfig(env).config.model.servers
    expect(read({ REMORA_MODEL_POOL: pool })).toEqual([{ url: 'http://c/v1', models: ['lora'], maxInFlightOfAll: 8 }])
    const rehearsal = [{ url: 'http://127.0.0.1:8421/v1', models: [], maxInFlightOfAll: 64 }]
    expect(read({})).toEqual(rehearsal)
    expect(read({ REMORA_MODEL_URLS: 'rehearsal', REMORA_MODEL_POOL: pool })).toEqual(rehearsal)
  })

  it.each([
    ['[{"url":"http://c/v1"}]', 'REMORA_MODEL_POOL: http://c/v1 is not one of the servers in REMORA_MODEL_URLS'],
    ['[{"url":"http://a/v1","max":3}]', 'REMORA_MODEL_POOL.0'],
    ['[{"url":"http://a/v1","max_in_flight":0}]', 'REMORA_MODEL_POOL.0.max_in_flight'],
    ['[{"url":"http://c:pass@a/v1"}]', 'REMORA_MODEL_POOL.0.url: must be without a login'],
    ['http://a/v1', 'REMORA_MODEL_POOL: not JSON'],
    ['["http://a/v1"]', 'REMORA_MODEL_POOL.0: must be a section with keys'],
  ])('are refused when configured with %s', (text, words) => {
    const read = () => servers({ REMORA_MODEL_POOL: text })
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003', message: expect.stringContaining(words) }))
  })

  it.each([
    ['localhost:8000/v1', 'REMORA_MODEL_URLS.0: must begin with http:// or https://'],
    ['http://a/v1, ftp://b/v1', 'REMORA_MODEL_URLS.1: must begin with http:// or https://'],
    ['http://me:hidden@a/v1', 'REMORA_MODEL_URLS.0: must be without a login'],
    ['http://a/v1?api-version=2', 'REMORA_MODEL_URLS.0: must be without a query'],
    [',', 'REMORA_MODEL_URLS: '],
  ])('are refused at %s', (text, words) => {
    const message = expect.stringContaining(words)
    const read = () => servers({ REMORA_MODEL_URLS: text })
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003', message }))
    expect(read).not.toThrow('hidden')
  })
})

describe('a time of a worker', () => {
  it.each([
    'REMORA_MODEL_RETRY_BUDGET_MS',
    'REMORA_MODEL_TIMEOUT_MS',
    'REMORA_MODEL_HEDGE_AFTER_MS',
    'REMORA_DRAIN_MS',
    'REMORA_LEASE_MS',
  ])('%s is refused when no timer waits so long', (name) => {
    const read = () => parseConfig({ [name]: String(2 ** 31) })
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003', message: expect.stringContaining(name) }))
  })
})

describe('the tool guide', () => {
  it('is left out unless it is asked for', () => {
    const guided = (value?: string) => parseConfig({ REMORA_MODEL_TOOL_GUIDE: value }).config.model.toolGuide
    expect([guided(), guided('false'), guided('true')]).toEqual([false, false, true])
    expect(() => guided('yes')).toThrow(/REMORA_MODEL_TOOL_GUIDE/)
  })
})

describe('what a worker takes of its machine', () => {
  it('goes by its slots, unless configured otherwise', () => {
    const taken = (env: Record<string, string>) => {
      const { scriptProcesses, blobCacheBytes } = parseConfig(env).config
      return [scriptProcesses, blobCacheBytes / 1024 ** 2]
    }
    expect(taken({ REMORA_WORKER_SLOTS: '4' })).toEqual([1, 16])
    expect(taken({})).toEqual([1, 64])
    expect(taken({ REMORA_WORKER_SLOTS: '256' })).toEqual([2, 256])
    const own = { REMORA_WORKER_SCRIPT_PROCESSES: '3', REMORA_BLOB_CACHE_BYTES: '1048576' }
    expect(taken({ REMORA_WORKER_SLOTS: '4', ...own })).toEqual([3, 1])
  })
})
