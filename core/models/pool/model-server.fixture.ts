import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ModelRequest } from '#domain/turn.ts'
import { boundPort } from '#platform/http-health.ts'

export type Played = 'good' | 'hang' | 'reset' | 'broken' | number

export type PlayedServer = {
  url: string
  /** Completions that were asked for; those whose connection the client closed before the answer. */
  seen: { completions: number; left: number; gets: string[] }
  /** What it does with completions from now on. */
  plays(what: Played): void
  close(): void
}

export const modelRequest = (model: string, prefixKey?: string): ModelRequest => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  temperature: 0,
  maxTokens: 10,
  prefixKey,
})

type Pages = { models?: string[]; metrics?: string | number; health?: number }

/** A model server of a test: it answers at once, and records the requests. */
export async function startModelServer(first: Played = 'good', pages: Pages = {}): Promise<PlayedServer> {
  const seen: PlayedServer['seen'] = { completions: 0, left: 0, gets: [] }
  let playing = first
  const server = createServer((incoming, response) => {
    incoming.resume()
    if (incoming.method === 'GET') return servePage(incoming, response, pages, seen.gets)
    seen.completions += 1
    response.once('close', () => {
      if (!response.writableFinished) seen.left += 1
    })
    return play(playing, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${boundPort(server)}/v1`,
    seen,
    plays(what) {
      playing = what
    },
    close: () => server.close().closeAllConnections(),
  }
}

function servePage({ url = '' }: IncomingMessage, response: ServerResponse, pages: Pages, gets: string[]) {
  gets.push(url)
  const { models, metrics, health = 200 } = pages
  if (url === '/health') return response.writeHead(health).end()
  if (url === '/metrics' && typeof metrics === 'number') return response.writeHead(metrics).end()
  if (url === '/metrics' && metrics !== undefined) return response.writeHead(200).end(metrics)
  if (url !== '/v1/models' || models === undefined) return response.writeHead(404).end()
  return response.writeHead(200, json).end(JSON.stringify({ data: models.map((id) => ({ id })) }))
}

const json = { 'content-type': 'application/json' }

function play(what: Played, response: ServerResponse) {
  if (what === 'hang') return response
  if (what === 'reset') return response.destroy()
  if (what === 'broken') return response.writeHead(200, json).end('{"choices":[')
  if (what !== 'good') return response.writeHead(what, json).end(JSON.stringify({ error: { message: `said ${what}` } }))
  return response
    .writeHead(200, json)
    .end(JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }))
}
