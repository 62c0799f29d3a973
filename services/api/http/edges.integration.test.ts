import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { until } from '#testing/until.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { safeHeaders } from './problem.ts'
import { openSocket, rawRequest } from './raw-request.fixture.ts'
import { serveApp, type ServedApp } from './serve-app.ts'
import { useTestApi } from '../use-test-api.fixture.ts'

let served: ServedApp
const lines: string[] = []
const api = useTestApi({ writeLog: (line) => void lines.push(line) })
beforeAll(async () => {
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
})
afterAll(() => served.close())

const run = '/v1/runs/r0123456789'
const json = { 'content-type': 'application/json' }

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${api.token}`, ...Object.fromEntries(new Headers(init.headers)) }
  return fetch(`${served.url}${path}`, { ...init, headers })
}

async function problemOf(answer: Response): Promise<Problem> {
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const problem = Problem.parse(await answer.json())
  expect(problem.status).toBe(answer.status)
  return problem
}

describe('what cannot be answered', () => {
  it.for([
    ['an address that is not there', '/v1/nothing', {}, 404, 'HTTP_001'],
    ['one outside of /v1', '/nothing', {}, 404, 'HTTP_001'],
    ['a run that cannot be', '/v1/runs/%00%ff', {}, 404, 'RUN_001'],
    ['an operation that cannot be', `${run}/operations/..%2f..`, {}, 404, 'RUN_004'],
    ['a token that cannot be', '/v1/tokens/t1', { method: 'DELETE' }, 404, 'AUTH_003'],
    ['an unknown parameter', `${run}?verbose=1`, {}, 400, 'RUN_002'],
    ['a parameter given twice', '/v1/runs?limit=1&limit=2', {}, 400, 'RUN_002'],
    ['a number that is none', '/v1/runs?limit=0x10', {}, 400, 'RUN_002'],
    ['a body of another type', `${run}/cancel`, { method: 'POST', body: 'reason=x' }, 415, 'HTTP_003'],
    [
      'a form where JSON is due',
      `${run}/cancel`,
      { method: 'POST', body: new URLSearchParams({ a: 'b' }) },
      415,
      'HTTP_003',
    ],
    ['a body of neither type', '/v1/runs', { method: 'POST', body: '{}' }, 415, 'HTTP_003'],
    ['JSON without a repository', '/v1/runs', { method: 'POST', body: '{}', headers: json }, 422, 'INTAKE_008'],
    ['broken JSON', `${run}/cancel`, { method: 'POST', body: '{"reason"', headers: json }, 422, 'INTAKE_008'],
    ['JSON of another shape', `${run}/cancel`, { method: 'POST', body: '[]', headers: json }, 422, 'INTAKE_008'],
    [
      'half a character',
      `${run}/cancel`,
      { method: 'POST', body: '{"reason":"a \\ud83d b"}', headers: json },
      422,
      'INTAKE_008',
    ],
    [
      'too much JSON',
      `${run}/cancel`,
      { method: 'POST', body: `"${'x'.repeat(70_000)}"`, headers: json },
      413,
      'INTAKE_003',
    ],
    [
      'an Idempotency-Key of two words',
      '/v1/tokens',
      { method: 'POST', headers: { 'idempotency-key': 'a b' } },
      422,
      'INTAKE_008',
    ],
  ] as const)('is refused with a code: %s', async ([, path, init, status, code]) => {
    expect(await problemOf(await ask(path, init))).toMatchObject({ status, error_code: code })
  })

  it.for([
    ['DELETE', '/v1/runs', 'GET, HEAD, POST'],
    ['PUT', run, 'DELETE, GET, HEAD'],
    ['GET', `${run}/cancel`, 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['OPTIONS', '/v1/runs', 'GET, HEAD, POST'],
  ])('says which methods an address has: %s %s', async ([method = '', path = '', allow = '']) => {
    const answer = await ask(path, { method })
    expect(await problemOf(answer)).toMatchObject({ status: 405, error_code: 'HTTP_002' })
    expect(answer.headers.get('allow')?.split(', ').toSorted().join(', ')).toBe(allow)
  })

  it.for([
    ['what is no HTTP', 'hello\r\n\r\n', 400, 'HTTP_004'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'HTTP_004'],
    [
      'two lengths',
      'POST /v1/runs HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      400,
      'HTTP_004',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'HTTP_004',
    ],
    ['a Host that is none', 'GET /healthz HTTP/1.1\r\nhost: a b/../\r\nconnection: close\r\n\r\n', 400, 'HTTP_004'],
    ['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HTTP_005'],
    ['an expectation', 'GET /healthz HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n\r\n', 417, 'HTTP_008'],
  ] as const)('is refused before it is a request: %s', async ([, bytes, status, code]) => {
    const answer = await rawRequest(served.url, bytes)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({ ...safeHeaders, 'content-type': 'application/problem+json' })
    expect(Problem.parse(parseJson(answer.body))).toMatchObject({ status, error_code: code })
  })
})

describe('every answer', () => {
  it.for(['/healthz', '/v1/runs', '/v1/nothing', '/docs'])('has safe headers: %s', async (path) => {
    const answer = await ask(path)
    const { headers } = answer
    await answer.text() // unread, the page is too long for its connection to be free again
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('server')).toBeNull()
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('cache-control')).toBe(path === '/docs' ? 'no-cache' : 'no-store')
  })

  it('opens nothing to other sites', async () => {
    const preflight = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
    const answer = await ask('/v1/runs', { method: 'OPTIONS', headers: preflight })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('has no body for HEAD, and the headers of GET', async () => {
    const answer = await ask('/v1/runs', { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect((await ask(run, { method: 'HEAD' })).status).toBe(404)
  })

  it('carries the id it was asked with, or one of its own', async () => {
    const given = await ask(run, { headers: { 'x-request-id': 'my-id-1' } })
    expect(given.headers.get('x-request-id')).toBe('my-id-1')
    const bad = await ask(run, { headers: { 'x-request-id': 'one two' } })
    expect(bad.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  })
})

const Line = z.looseObject({ message: z.string(), request_id: z.string().optional(), status: z.number().optional() })

describe('the log', () => {
  it('has one line per request, without its token or query', async () => {
    const id = 'logged-once'
    await ask('/v1/runs?limit=3&before=r0123456789', { headers: { 'x-request-id': id } })
    const found = await until(() => lines.filter((line) => line.includes(id)), { holds: ({ length }) => length > 0 })
    expect(found).toHaveLength(1)
    expect(Line.parse(parseJson(found[0] ?? ''))).toMatchObject({
      level: 'info',
      message: 'request',
      method: 'GET',
      route: '/v1/runs',
      status: 200,
      request_id: id,
      project: api.project,
    })
  })

  it('names the pattern, not the address, also of what was refused', async () => {
    await ask(`${run}/operations/o0123456789abcdef`, { headers: { 'x-request-id': 'of-a-run' } })
    await ask('/v1/secret-path', { headers: { 'x-request-id': 'of-nothing' } })
    await fetch(`${served.url}/v1/runs`, {
      headers: { authorization: 'Bearer wrong-secret', 'x-request-id': 'of-nobody' },
    })
    const line = (id: string) => until(() => lines.find((entry) => entry.includes(`"${id}"`)))
    expect(await line('of-a-run')).toContain('"route":"/v1/runs/:run_id/operations/:operation_id","status":404')
    expect(await line('of-nothing')).toContain('"route":"/v1/*","status":404')
    expect(await line('of-nobody')).toContain('"status":401')
    const all = lines.join('')
    for (const secret of [api.token, 'wrong-secret', 'secret-path', 'limit=3']) expect(all).not.toContain(secret)
  })

  it.for([
    ['JSON', '/v1/tokens', 'application/json', '{"name"', 400],
    ['an upload', '/v1/runs', 'multipart/form-data; boundary=edge', '--edge\r\n', 422],
  ] as const)('has no fault of ours when a client goes in the middle of %s', async ([, path, type, start, status]) => {
    const id = `gone-from-${path.slice(4)}`
    const socket = openSocket(served.url)
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.token}\r\nx-request-id: ${id}\r\n`
    socket.write(`${head}content-type: ${type}\r\ncontent-length: 1000\r\n\r\n${start}`, () => socket.resetAndDestroy())
    const line = await until(() => lines.find((entry) => entry.includes(id) && entry.includes('"message":"request"')))
    expect(Line.parse(parseJson(line))).toMatchObject({ level: 'info', status })
    expect(lines.filter((entry) => entry.includes(id))).toEqual([line])
  })
})
