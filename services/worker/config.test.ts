import { describe, expect, it } from 'vitest'
import { newWorkerId, parseConfig } from './config.ts'

describe('the name of a worker', () => {
  it('is given, or one of its own each time, which could have been given', () => {
    expect(parseConfig({ REMORA_WORKER_ID: 'w1' }).worker.workerId).toBe('w1')
    const [one, other] = [newWorkerId('box'), newWorkerId('box')]
    expect(one).toMatch(/^worker-box-\d+-[0-9a-f]{6}$/)
    expect(other).not.toBe(one)
    expect(parseConfig({}).worker.workerId).not.toBe(parseConfig({}).worker.workerId)
  })

  it.each([
    ['box.example.org', 'worker-box-'],
    ['größe/1', 'worker-gr--e-1-'],
    ['x'.repeat(253), 'worker-x'],
    ['', 'worker--'],
  ])('is valid on a host called %j', (host, start) => {
    const id = newWorkerId(host)
    expect(id.startsWith(start)).toBe(true)
    expect(parseConfig({ REMORA_WORKER_ID: id }).worker.workerId).toBe(id)
  })
})

describe('the secrets of a worker', () => {
  it('are its keys and its token', () => {
    const keys = { AWS_SECRET_ACCESS_KEY: 'hidden', AWS_SESSION_TOKEN: 'token' }
    expect(parseConfig({ ...keys, REMORA_MODEL_API_KEY: 'sk-1' }).secrets).toEqual(['sk-1', 'hidden', 'token'])
  })
})

describe('how a worker asks', () => {
  it('is with a tool call required, unless it is told otherwise', () => {
    expect(parseConfig({}).worker.model.toolChoice).toBe('required')
    expect(parseConfig({ REMORA_MODEL_TOOL_CHOICE: 'auto' }).worker.model.toolChoice).toBe('auto')
    expect(() => parseConfig({ REMORA_MODEL_TOOL_CHOICE: 'none' })).toThrow(/REMORA_MODEL_TOOL_CHOICE/)
  })
})

describe('streaming', () => {
  it('is off unless it is asked for, in words that are understood', () => {
    const stream = (value?: string) => parseConfig({ REMORA_MODEL_STREAM: value }).worker.model.stream
    expect([stream(), stream(''), stream('false'), stream('true')]).toEqual([false, false, false, true])
    expect(() => stream('yes')).toThrow(/REMORA_MODEL_STREAM/)
  })
})
