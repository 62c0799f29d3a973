import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { RunId } from '#domain/id-schemas.ts'
import { sha256 } from '#domain/ids.ts'
import { until } from '#testing/until.ts'
import { TokenCreated } from '#schemas/token-schema.ts'
import { runForm, tarOf } from '../../app.fixture.ts'
import { openAttackedApi, type AttackedApi } from '../../attack/attacked-api.fixture.ts'
import type { TokenRecord } from '../access/token-record.ts'
import { rawRequest } from '../../http/raw-request.fixture.ts'
import { handshakeOf, openFrames, openWebSocket, type FrameReader } from './event-frames.fixture.ts'

let api: AttackedApi
let runId: string
beforeAll(async () => {
  api = await openAttackedApi({ recheckMs: 50, lookMs: 50 })
  const body = runForm(await tarOf({ 'a.py': 'x = 1\n' }))
  const answer = await api.fetch('/v1/runs', { method: 'POST', body })
  runId = z.object({ run_id: z.string() }).parse(await answer.json()).run_id
})
afterAll(() => api.close())

/** A stream of the run's events with a token of its own, and whether it is over. */
async function openReader(request: object = {}) {
  const init = { method: 'POST', body: JSON.stringify(request), headers: { 'content-type': 'application/json' } }
  const token = TokenCreated.parse(await (await api.fetch('/v1/tokens', init)).json())
  const stream = await openFrames(eventsOf(), { authorization: `Bearer ${token.token}` })
  return { token, stream, read: reading(stream) }
}

function reading(stream: FrameReader) {
  const read = { isOver: false, types: new Set<string>() }
  void (async () => {
    for await (const { type } of stream.frames()) read.types.add(type)
    read.isOver = true
  })().catch(() => undefined)
  return read
}

const eventsOf = () => `${api.url}/v1/runs/${runId}/events`

it('a stream ends soon after its token was revoked, without an end of the run; those of others go on', async () => {
  const [leaked, good] = [await openReader(), await openReader()]
  await until(() => [leaked.read.types, good.read.types], {
    holds: (both) => both.every((types) => types.has('event')),
  })
  const gone = await api.fetch(`/v1/tokens/${leaked.token.token_id}`, { method: 'DELETE' })
  expect(gone.status).toBe(204)
  await until(() => leaked.read.isOver)
  expect(leaked.read.types).not.toContain('end')
  expect(good.read.isOver).toBe(false)
  good.stream.leave()
})

it('a WebSocket has its token among the protocols that it offers, and is closed soon after that was revoked', async () => {
  const token = TokenCreated.parse(await (await api.fetch('/v1/tokens', { method: 'POST' })).json())
  const offered = `remora.bearer.${Buffer.from(token.token).toString('base64url')}`
  const socket = await openWebSocket(eventsOf(), ['remora', offered])
  expect(socket.protocol).toBe('remora')
  expect((await openWebSocket(eventsOf(), [offered])).protocol).toBe(offered)
  expect((await api.fetch(`/v1/tokens/${token.token_id}`, { method: 'DELETE' })).status).toBe(204)
  expect(await socket.closed).toBe(4401)
  const answer = await rawRequest(api.url, handshakeOf(eventsOf(), { 'sec-websocket-protocol': offered }))
  expect([answer.status, parseJson(answer.body)]).toMatchObject([401, { error_code: 'AUTH_001' }])
})

it('the events of all runs are those of the project of the token, by a stream and by a WebSocket', async () => {
  await api.fetch('/v1/projects/other', { method: 'PUT' })
  const asked = { body: JSON.stringify({ project_id: 'other' }), headers: { 'content-type': 'application/json' } }
  const { token } = TokenCreated.parse(await (await api.fetch('/v1/tokens', { method: 'POST', ...asked })).json())
  const headers = { authorization: `Bearer ${token}` }
  const all = `${api.url}/v1/events?after=0`
  const protocol = `remora.bearer.${Buffer.from(token).toString('base64url')}`
  const readers = [await openFrames(all, headers), await openWebSocket(all, [protocol])]
  await api.ledger.tellEvents(runId)
  const init = { method: 'POST', headers, body: runForm(await tarOf({ 'b.py': 'x = 1\n' })) }
  const own = z.object({ run_id: RunId }).parse(await (await api.fetch('/v1/runs', init)).json()).run_id
  await api.ledger.tellEvents(own)
  for (const reader of readers) {
    const frames = reader.frames()
    expect(await frames.next()).toMatchObject({ value: { type: 'connected', missed: 0 } })
    expect(await frames.next()).toMatchObject({ value: { event: { run_id: own, project_id: 'other', seq: 1 } } })
    reader.leave()
  }
})

it('a WebSocket is closed when its run is deleted', async () => {
  const answer = await api.fetch('/v1/runs', { method: 'POST', body: runForm(await tarOf({ 'a.py': 'x = 1\n' })) })
  const { run_id: doomed } = z.object({ run_id: RunId }).parse(await answer.json())
  const headers = { authorization: `Bearer ${api.token}` }
  const refused = await rawRequest(api.url, handshakeOf(`${api.url}/v1/runs`, headers))
  expect([refused.status, refused.headers['connection']]).toEqual([200, 'close'])
  const protocol = `remora.bearer.${Buffer.from(api.token).toString('base64url')}`
  const socket = await openWebSocket(`${api.url}/v1/runs/${doomed}/events`, [protocol])
  await api.redis.del(`${api.namespace}:{${doomed}}:run`)
  expect(await socket.closed).toBe(4404)
})

it.concurrent.for<[string, Partial<TokenRecord>]>([
  ['has expired', { expiresAt: Date.now() - 1 }],
  ['may not read runs any more', { scopes: ['runs:write'] }],
])('a stream ends soon after its token %s', async ([, change]) => {
  const { token, stream, read } = await openReader({ expires_in_s: 3_600 })
  expect(stream.status).toBe(200)
  const hash = sha256(token.token)
  const record = (await api.tokenStore.readAll()).records.get(hash)
  if (record === undefined) throw new Error('it was not kept')
  await api.tokenStore.add(hash, { ...record, ...change })
  await until(() => read.isOver)
})
