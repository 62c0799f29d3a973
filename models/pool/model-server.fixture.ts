import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import type { ModelRequest } from '#domain/turn.ts'
import { text } from 'node:stream/consumers'
import { boundPort } from '#platform/http-health.ts'

/** `frozen`: it answers nothing, no list of models either. */
export type Played = 'good' | 'hang' | 'frozen' | 'reset' | 'broken' | number

export type PlayedServer = {
  url: string
  /** Completions that were asked for; those whose connection the client closed before the answer. */
  seen: { completions: number; left: number; gets: string[] }
  /** What it does with completions from now on. */
  plays(what: Played): void
  /** From now on it answers no request for its models. */
  listsNothing(): void
  /** Open connections, also idle ones. */
  connections(): Promise<number>
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

/** `filter`: it answers completions with this text with this status, as a gateway that filters content. */
type Pages = {
  models?: string[]
  filter?: { text: string; status: number }
}

/** A model server of a test: it answers at once, and records the requests. */
export async function startModelServer(first: Played = 'good', pages: Pages = {}): Promise<PlayedServer> {
  const seen: PlayedServer['seen'] = { completions: 0, left: 0, gets: [] }
  let playing = first
  let lists = true
  const server = createServer((incoming, response) => {
    const body = text(incoming).catch(() => '')
    if (incoming.method === 'GET' && (playing === 'frozen' || !lists)) return incoming
    if (incoming.method === 'GET') return listModels(incoming, response, pages, seen.gets)
    seen.completions += 1
    response.once('close', () => {
      if (!response.writableFinished) seen.left += 1
    })
    const { filter } = pages
    if (filter === undefined) return play(playing, response)
    return void body.then((asked) => play(asked.includes(filter.text) ? filter.status : playing, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${boundPort(server)}/v1`,
    seen,
    plays(what) {
      playing = what
    },
    listsNothing() {
      lists = false
    },
    connections: promisify(server.getConnections.bind(server)),
    close: () => server.close().closeAllConnections(),
  }
}

function listModels({ url = '' }: IncomingMessage, response: ServerResponse, { models }: Pages, gets: string[]) {
  gets.push(url)
  if (url !== '/v1/models' || models === undefined) return response.writeHead(404).end()
  return response.writeHead(200, json).end(JSON.stringify({ data: models.map((id) => ({ id })) }))
}

const json = { 'content-type': 'application/json' }

function play(what: Played, response: ServerResponse) {
  if (what === 'hang' || what === 'frozen') return response
  if (what === 'reset') return response.destroy()
  if (what === 'broken') return response.writeHead(200, json).end('{"choices":[')
  if (what !== 'good') return response.writeHead(what, json).end(JSON.stringify({ error: { message: `said ${what}` } }))
  return response
    .writeHead(200, json)
    .end(JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }))
}
