import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '#domain/json.ts'
import { repeatEvery } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { tarOf } from '../app.fixture.ts'
import { openSocket, parseAnswer, rawRequest } from '../http/raw-request.fixture.ts'
import { openAttackedApi, type AttackedApi } from './attacked-api.fixture.ts'

let api: AttackedApi
beforeAll(async () => {
  const limits = { headersMs: 900, bodyWindowMs: 600, minBodyBytes: 1024, maxConnections: 120 }
  api = await openAttackedApi({ limits })
})
afterAll(() => api.close())

type Sender = { socket: Socket; said: string; isOver: boolean }

/** Sends `head`, then one byte now and then for as long as it is let. */
function slowSender(head: string): Sender {
  const sender: Sender = { socket: openSocket(api.url), said: '', isOver: false }
  sender.socket.on('data', (chunk) => (sender.said += chunk.toString()))
  sender.socket.on('close', () => (sender.isOver = true))
  sender.socket.write(head)
  return sender
}

async function trickled<T>(senders: readonly Sender[], work: () => Promise<T>): Promise<T> {
  const stop = repeatEvery(50, async () => {
    for (const { socket, isOver } of senders) if (!isOver && socket.writable) socket.write('x')
  })
  try {
    return await work()
  } finally {
    await stop()
    for (const { socket } of senders) socket.destroy()
  }
}

const uploadHead = (length = 100_000) =>
  `POST /v1/runs HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.token}\r\ncontent-length: ${length}\r\n` +
  `content-type: multipart/form-data; boundary=edge\r\n\r\n`
const slowUpload = () => `${uploadHead()}--edge\r\n`
const uploadOf = async (files: Readonly<Record<string, string>>) =>
  Buffer.concat([
    Buffer.from('--edge\r\ncontent-disposition: form-data; name="request"\r\n\r\n{"agents":["lint"]}\r\n'),
    Buffer.from('--edge\r\ncontent-disposition: form-data; name="archive"; filename="a.tar"\r\n\r\n'),
    await tarOf(files),
    Buffer.from('\r\n--edge--\r\n'),
  ])
const jsonHead = () =>
  `POST /v1/tokens HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.token}\r\n` +
  `content-type: application/json\r\ncontent-length: 60000\r\n\r\n"`

describe('100 slow senders', () => {
  it('of headers and bodies are cut off with a problem, while others are served', async () => {
    const kinds = [() => 'GET /v1/runs HTTP/1.1\r\nhost: a\r\nx-slow: ', slowUpload, jsonHead, () => '']
    const senders = Array.from({ length: 100 }, (_, index) => slowSender(kinds[index % kinds.length]?.() ?? ''))
    const served = { count: 0 }
    await trickled(senders, () =>
      until(
        async () => {
          const answer = await api.fetch('/v1/runs')
          await answer.body?.cancel()
          if (answer.status === 200) served.count += 1
          return senders.flatMap(({ isOver, said }) => (isOver ? [] : [said]))
        },
        { holds: (open) => open.length === 0, withinMs: 60_000 },
      ),
    )
    expect(served.count).toBeGreaterThan(3)
    const codes = senders.map(({ said }) => {
      const { status, body } = parseAnswer(said)
      return `${status} ${JSON.stringify(parseJson(body))?.match(/[A-Z]+_\d{3}(?=",)/)?.[0]}`
    })
    // A byte that starts no request is no HTTP; the others came too slowly.
    expect(new Set(codes)).toEqual(new Set(['408 HTTP_006', '400 HTTP_004']))
    expect(codes.filter((code) => code === '408 HTTP_006')).toHaveLength(75)
  })

  it('leave alone an upload that goes on, however long it takes', async () => {
    const body = await uploadOf({ 'a.py': 'x = 1\n'.repeat(6_000) })
    const sender = slowSender(uploadHead(body.length))
    const sent = { bytes: 0, times: 0 }
    const stop = repeatEvery(100, async () => {
      if (sent.bytes >= body.length) return
      sender.socket.write(body.subarray(sent.bytes, (sent.bytes += 2_000)))
      sent.times += 1
    })
    const answer = await until(() => sender.said !== '' && parseAnswer(sender.said), { withinMs: 60_000 })
    await stop()
    sender.socket.destroy()
    expect(answer.status, answer.body).toBe(202)
    expect(sent.times).toBeGreaterThan(18) // three windows of the limit
  })
})

describe('as many clients as there may be that do not read what they asked for', () => {
  it('are cut off, and others are served again', async () => {
    const small = await openAttackedApi({ limits: { maxConnections: 10, idleMs: 1_500 } })
    const ask = 'GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(200)
    const held = Array.from({ length: 10 }, () => openSocket(small.url).pause())
    const fresh = () => rawRequest(small.url, 'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await until(fresh, { holds: ({ status }) => status === 0 })
    for (const socket of held) socket.write(ask)
    await until(fresh, { holds: ({ status }) => status === 200, withinMs: 60_000 })
    for (const socket of held) socket.destroy()
    expect((await fresh()).status).toBe(200)
    await small.close()
  })
})

describe('more connections than there may be', () => {
  it('are closed, and there is room again when others go', async () => {
    const held = Array.from({ length: 200 }, () => slowSender('GET /v1/runs HTTP/1.1\r\n'))
    await until(() => held.filter(({ isOver }) => isOver), { holds: ({ length }) => length >= 80 })
    for (const { socket } of held) socket.destroy()
    const answer = await until(() => api.fetch('/healthz').catch(() => undefined))
    expect(answer.status).toBe(200)
  })
})
