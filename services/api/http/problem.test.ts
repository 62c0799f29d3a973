import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import type { ApiEnv } from './api-env.ts'
import { problemHandler, storeOutages, unknownRoute } from './problem.ts'

function appThatThrows(error: Error, { redisReady = true } = {}) {
  const { log, lines } = recordedLog({ level: 'info' })
  const app = new Hono<ApiEnv>()
  app.use(requestId(), storeOutages(log))
  app.onError(problemHandler({ log, isRedisReady: () => redisReady }))
  app.notFound(unknownRoute)
  app.get('/v1/runs/:run_id', () => {
    throw error
  })
  const request = async () => {
    const answer = await app.request('/v1/runs/r1', { headers: { 'x-request-id': 'q1' } })
    return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.json() }
  }
  return { app, request, lines }
}

describe('problemHandler', () => {
  it('tells nothing about a bug but the id to look for in the log', async () => {
    const { request, lines } = appThatThrows(new Error('secret path /etc/shadow'))
    const { status, body } = await request()
    expect(status).toBe(500)
    expect(body).toEqual({
      type: 'urn:remora:error:HTTP_007',
      title: 'unexpected error',
      status: 500,
      detail: 'unexpected error; request q1',
      error_code: 'HTTP_007',
      run_id: 'r1',
    })
    expect(lines.join('')).toContain('secret path')
    expect(lines.join('')).toContain('q1')
  })

  it('keeps the inside of our own faults out of the answer', async () => {
    const { request } = appThatThrows(new AppError('STORE_003', 'object projects/x/blobs/y does not match'))
    expect(JSON.stringify(await request())).not.toContain('blobs')
  })

  it('calls a bug one also while Redis is away', async () => {
    const { request, lines } = appThatThrows(new TypeError('x is not a function'), { redisReady: false })
    expect(await request()).toMatchObject({ status: 500, body: { error_code: 'HTTP_007' } })
    expect(lines.join('')).toContain('x is not a function')
  })
})

describe('storeOutages', () => {
  it('counts what Redis has failed, not what we refuse while it works', async () => {
    const refusedRun = new AppError('STORE_001', 'nearly full', { detail: 'nearly full' })
    const refused = appThatThrows(refusedRun)
    expect(await refused.request()).toMatchObject({ status: 503, body: { detail: 'nearly full' } })
    expect(refused.lines).toEqual([])
    const failed = appThatThrows(new AppError('STORE_001', 'away', { cause: new Error('refused') }))
    await failed.request()
    expect(failed.lines.join('')).toContain('Redis cannot be used')
  })
})
