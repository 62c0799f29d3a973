import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { openModelPool, type ModelPool, type ModelPoolOptions } from '#models/model-pool.ts'
import { until } from '#testing/until.ts'
import type { FaultName } from './faults.ts'
import { startRehearsal, type Rehearsal } from './rehearsal-server.ts'

let rehearsal: Rehearsal
const pools: ModelPool[] = []
beforeAll(async () => {
  rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
})
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())))
afterAll(() => rehearsal.close())

function openPool(options: Partial<ModelPoolOptions> = {}): ModelPool {
  const endpoints = [{ url: rehearsal.url }]
  const pool = openModelPool({ endpoints, requestTimeoutMs: 400, retryBudgetMs: 800, maxInFlight: 8, ...options })
  pools.push(pool)
  return pool
}

function request(fault?: FaultName): ModelRequest {
  const mark = fault === undefined ? '' : ` [[rehearsal:fault=${fault}]]`
  return {
    model: 'rehearsal',
    messages: [{ role: 'user', content: `Read a.py${mark}` }],
    tools: ['read_file', 'write_file', 'submit_result'].map((name) => ({ name, description: name, parameters: {} })),
    toolChoice: 'required',
    temperature: 0,
    maxTokens: 100,
  }
}

async function meetFaults(shares: Partial<Record<FaultName, number>>, times: number): Promise<void> {
  await (await fetch(`${rehearsal.origin}/faults`, { method: 'POST', body: JSON.stringify({ shares, times }) })).text()
}

async function requestsRunning(): Promise<number> {
  const metrics = await (await fetch(`${rehearsal.origin}/metrics`)).text()
  return Number(/vllm:num_requests_running\{[^}]*\} (\d+)/.exec(metrics)?.[1])
}

const never = new AbortController().signal

describe('a fault that passes', () => {
  it.each<FaultName>(['503', '529', 'reset', 'hang', 'truncated', '429'])('%s is tried again', async (fault) => {
    await meetFaults({ [fault]: 1 }, 1)
    const reply = await openPool({ retryBudgetMs: 5000 }).complete(request(), never)
    expect(reply.toolCalls).toEqual([{ id: 'call_1', name: 'read_file', arguments: '{"path":"a.py"}' }])
  })

  it('is tried on the other endpoint, without waiting for Retry-After', async () => {
    const other = await startRehearsal({ host: '127.0.0.1', port: 0 })
    await meetFaults({ '429': 1 }, 100)
    // Whoever waited for as long as the busy server says, a second, could not try again within the budget.
    const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 900, maxInFlight: 1 }
    const pool = openPool({ endpoints: [{ url: rehearsal.url }, { url: `${other.url}/` }], ...limits })
    const replies = await Promise.all([pool.complete(request(), never), pool.complete(request(), never)])
    expect(replies.map((reply) => reply.toolCalls.length)).toEqual([1, 1])
    expect(replies.some(({ tries }) => tries > 1)).toBe(true)
    await meetFaults({}, 0)
    await pool.close()
    await other.close()
  })
})

describe('the pool', () => {
  it('lists the models of the endpoints that answer, and fails when none does', async () => {
    const dead = { url: 'http://127.0.0.1:1/v1' }
    expect(await openPool({ endpoints: [dead, { url: rehearsal.url }] }).describe()).toEqual({ models: ['rehearsal'] })
    await expect(openPool({ endpoints: [dead] }).describe()).rejects.toMatchObject({ code: 'CONFIG_005' })
  })

  it('ends at once with the reason when aborted, and closes the socket', async () => {
    const abort = new AbortController()
    const asked = openPool({ requestTimeoutMs: 60_000 }).complete(request('hang'), abort.signal)
    await until(requestsRunning, { holds: (count) => count === 1 })
    const reason = new AppError('AGENT_010', 'cancelled')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await until(requestsRunning, { holds: (count) => count === 0 })
  })

  it('waits in line for a place, and leaves the line when aborted', async () => {
    const pool = openPool({ requestTimeoutMs: 60_000, maxInFlight: 1 })
    const first = new AbortController()
    const second = new AbortController()
    const hanging = pool.complete(request('hang'), first.signal)
    const aborted = pool.complete(request(), second.signal)
    const waiting = pool.complete(request(), never)
    await until(requestsRunning, { holds: (count) => count === 1 })
    second.abort(new Error('left'))
    await expect(aborted).rejects.toThrow('left')
    first.abort(new Error('gone'))
    await expect(hanging).rejects.toThrow('gone')
    expect((await waiting).toolCalls).toHaveLength(1)
  })

  it('leaves nothing open after close, even a hanging request', async () => {
    const pool = openPool({ requestTimeoutMs: 60_000, retryBudgetMs: 60_000 })
    await pool.complete(request(), never)
    const asked = pool.complete(request('hang'), never).catch((error: unknown) => error)
    await until(requestsRunning, { holds: (count) => count === 1 })
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
    const open = sockets()
    await pool.close()
    expect(await asked).toMatchObject({ code: 'AGENT_002' })
    await until(sockets, { holds: (count) => count <= open - 2 }) // both ends of a connection are in this process
    await until(requestsRunning, { holds: (count) => count === 0 })
  })
})
