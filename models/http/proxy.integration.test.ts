import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import type { HttpProxy } from '#platform/env.ts'
import { openModelPool } from '../model-pool.ts'
import { modelRequest, startModelServer } from '../pool/model-server.fixture.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

/** A proxy that passes requests on to `target`, whatever host they are for, and opens no tunnel. */
async function startProxy(target: string) {
  const seen: string[] = []
  const proxy = createServer((incoming, response) => {
    const { method = 'GET', url = '' } = incoming
    seen.push(`${method} ${url}`)
    const handOn = async () => {
      const answer = await fetch(`${target}${new URL(url).pathname}`, { method })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    }
    incoming.resume().once('end', () => void handOn())
  })
  proxy.on('connect', ({ method, url }, socket) => {
    seen.push(`${method} ${url}`)
    socket.end('HTTP/1.1 502 no\r\n\r\n')
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  opened.push({ close: () => proxy.close().closeAllConnections() })
  return { url: `http://127.0.0.1:${boundPort(proxy)}`, seen }
}

async function open(modelUrl: (server: string) => string, direct = '') {
  const server = await startModelServer()
  opened.push(server)
  const { url, seen } = await startProxy(new URL(server.url).origin)
  const proxy: HttpProxy = { http: url, https: undefined, direct }
  const endpoints = [{ url: modelUrl(server.url), models: ['m'] }]
  const pool = openModelPool({ endpoints, requestTimeoutMs: 20_000, retryBudgetMs: 0, maxInFlight: 2, proxy })
  opened.push(pool)
  return { complete: () => pool.complete(modelRequest('m'), new AbortController().signal), seen }
}

describe('a proxy', () => {
  it('is asked for what a model server is asked', async () => {
    const { complete, seen } = await open(() => 'http://model.invalid/v1')
    expect(await complete()).toMatchObject({ content: 'hi', endpoint: 'http://model.invalid/v1' })
    expect(seen).toEqual(['POST http://model.invalid/v1/chat/completions'])
  })

  it('is asked for a tunnel to a server that speaks https', async () => {
    const { complete, seen } = await open(() => 'https://model.invalid/v1')
    await expect(complete()).rejects.toMatchObject({ code: 'AGENT_002' })
    expect([...new Set(seen)]).toEqual(['CONNECT model.invalid:443'])
  })

  it('is passed by where the host is to be asked directly', async () => {
    const { complete, seen } = await open((server) => server, 'localhost,127.0.0.1')
    expect(await complete()).toMatchObject({ content: 'hi' })
    expect(seen).toEqual([])
  })
})
