import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { openApiClient, type ApiClient } from './api-client.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

let server: Server
let client: ApiClient
let answer: Answer = () => {}
const stop = new AbortController()

beforeEach(async () => {
  server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  client = openApiClient({ url: `http://127.0.0.1:${boundPort(server)}`, token: 'secret', signal: stop.signal })
})
afterEach(() => closeServer(server))

const page = { limit: 10 }
const places = [
  'self',
  'events',
  'timeline',
  'agenda',
  'nodes',
  'operations',
  'changes',
  'findings',
  'decisions',
  'patch',
  'archive',
  'questions',
]
const links = Object.fromEntries(places.map((place) => [place, '/v1']))
const accepted = JSON.stringify({ run_id: 'r000000001', status: 'queued', links })

describe('the client of the API', () => {
  it('sends its token, and the request before the archive', async () => {
    let seen = ''
    answer = async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      seen = `${request.headers.authorization}\n${Buffer.concat(parts).toString()}`
      response.writeHead(202).end(accepted)
    }
    async function* archive() {
      yield Buffer.from('first ')
      yield Buffer.from('second')
    }
    const { run_id: runId } = await client.submit({ request: { agents: ['lint'] }, archive: archive() })
    expect(runId).toBe('r000000001')
    expect(seen).toMatch(
      /^Bearer secret\n[^]*name="request"[^]*{"agents":\["lint"\]}[^]*name="archive"[^]*first second/,
    )
  })

  it('asks again after the time that the service names, when its token has sent too many requests', async () => {
    const problem = { title: 'too many requests', status: 429, error_code: 'LIMIT_001' }
    let asked = 0
    answer = (_request, response) => {
      asked += 1
      if (asked < 3) response.writeHead(429, { 'retry-after': '0' }).end(JSON.stringify(problem))
      else response.writeHead(200).end('{"runs":[],"next":null}')
    }
    expect(await client.listRuns(page)).toEqual({ runs: [], next: null })
    expect(asked).toBe(3)
  })

  it('reads an archive anew where it was refused before all of it was sent', async () => {
    const problem = { title: 'too many requests', status: 429, error_code: 'LIMIT_001' }
    const part = Buffer.alloc(1 << 20, 'x')
    let [asked, received] = [0, 0]
    answer = async (request, response) => {
      asked += 1
      if (asked === 1) return void response.writeHead(429, { 'retry-after': '0' }).end(JSON.stringify(problem))
      for await (const bytes of request) received += bytes.length
      response.writeHead(202).end(accepted)
    }
    const archive = {
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < 16; at += 1) yield part
      },
    }
    expect(await client.submit({ request: { agents: ['lint'] }, archive })).toMatchObject({ run_id: 'r000000001' })
    expect(received).toBeGreaterThan(16 * part.length)
    expect(asked).toBe(2)
  })

  it('does not ask again for a run that its token may not have', async () => {
    let asked = 0
    answer = (_request, response) => {
      asked += 1
      const problem = { title: 'too many runs', detail: 'it has 2', status: 429, error_code: 'LIMIT_003' }
      response.writeHead(429).end(JSON.stringify(problem))
    }
    await expect(client.cancel('r1')).rejects.toMatchObject({ code: 'LIMIT_003', message: 'it has 2' })
    expect(asked).toBe(1)
  })

  it.each([
    [502, '<html>bad gateway</html>', /does not answer as a Remora .*status 502.*correct REMORA_API_URL/],
    [200, '{"runs":[1]}', /does not answer as a Remora of this version does .*correct REMORA_API_URL/],
  ])('says so when what answers is no such service: %i %s', async (status, body, message) => {
    answer = (_request, response) => response.writeHead(status).end(body)
    const asked = client.listRuns(page)
    await expect(asked).rejects.toMatchObject({ code: 'CONFIG_006', message: expect.stringMatching(message) })
  })

  it('takes keys that a newer service has added, and keeps them', async () => {
    const newer = { runs: [], next: null, of_a_newer_service: 1 }
    answer = (_request, response) => response.writeHead(200).end(JSON.stringify(newer))
    expect(await client.listRuns(page)).toEqual(newer)
  })

  it('keeps the error of an archive that cannot be read to its end', async () => {
    answer = (request) => request.resume()
    async function* archive(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('first')
      throw new Error('file vanished')
    }
    const submitted = client.submit({ request: { agents: ['lint'] }, archive: archive() })
    await expect(submitted).rejects.toThrow('file vanished')
  })

  it('refuses a frame of a conversation that has another form', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: end\ndata: {}\n\n')
    }
    const frames = client.followTranscript('r000000001', 'o0123456789abcdef', { format: 'json' })
    await expect(frames.next()).rejects.toThrow('a frame of its stream has another form')
  })
})
