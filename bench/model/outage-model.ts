import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { probeText } from '#models/pool/probe-model.ts'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import { answerTo } from './play-agent.ts'

/** What a model server does while it is away. `refused`: it does not listen. */
export type Outage = 'refused' | '503' | 'hang'

const json = { 'content-type': 'application/json' }
const overloaded = JSON.stringify({ error: { message: 'overloaded' } })

/** A model of the benchmark's agent that can be away. It counts, of the agents' requests, those that it answered. */
export async function startOutageModel({ latencyMs }: { latencyMs: number }) {
  let playing: Outage | undefined
  let server: Server | undefined
  let firstAt: number | undefined
  const chat = (text: string, response: ServerResponse) => {
    if (playing === 'hang') return
    if (playing === '503') return void response.writeHead(503, json).end(overloaded)
    const { isAgents, reply } = answerTo(text)
    if (isAgents && !text.includes(probeText)) firstAt ??= performance.now()
    after(latencyMs, () => response.writeHead(200, json).end(reply))
  }
  const listen = async (port: number) => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (request.method === 'POST') return chat(Buffer.concat(chunks).toString('latin1'), response)
        return playing === 'hang' ? undefined : response.writeHead(404).end()
      })
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    return boundPort(server)
  }
  const end = async () => {
    server?.close()
    server?.closeAllConnections()
  }
  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async goAway(how: Outage) {
      playing = how
      if (how === 'refused') await end()
    },
    /** Works again. `firstRequestAt()` is then when the first request of an agent came, in ms of `performance.now()`. */
    async comeBack() {
      const wasRefused = playing === 'refused'
      playing = undefined
      firstAt = undefined
      if (wasRefused) await listen(port)
    },
    firstRequestAt: () => firstAt,
    stop: end,
  }
}
