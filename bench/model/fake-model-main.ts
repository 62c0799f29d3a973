import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { probeTool, probeUser } from '#models/capabilities/probe-requests.ts'
import { probeText } from '#models/pool/probe-model.ts'
import { after } from '#platform/clock.ts'
import { openLoadMeter } from './load-meter.ts'
import { answerTo } from './play-agent.ts'
import type { ModelCounts } from './start-fake-model.ts'

// Child process of start-fake-model.ts: a chat completions server that answers after a set time, counts, and sends its
// counts when asked over IPC. It is meant to cost as little as node:http allows.
const count = z.coerce.number().int().min(0)
const [leastMs, mostMs, slots] = z.tuple([count, count, count]).parse(process.argv.slice(2))
const meter = openLoadMeter(slots)
let counts = noCounts()

function noCounts(): Omit<ModelCounts, 'load'> {
  return { byTurn: [0, 0, 0, 0], readResults: 0, writeResults: 0, otherRequests: 0, bodyBytes: 0 }
}

/** A probe is not an agent's turn: it is answered at once with a call, whatever it asks, and is not counted. */
const probeMark = JSON.stringify(probeUser)
const probeReply = JSON.stringify({
  choices: [
    {
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: probeTool.name, arguments: '{"word":"hello"}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
})

function answerProbe(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': probeReply.length }).end(probeReply)
}

function chat(body: Buffer, response: ServerResponse): void {
  const text = body.toString('latin1')
  if (text.includes(probeMark) || text.includes(probeText)) return answerProbe(response)
  const { turn, isAgents, reply } = answerTo(text)
  if (isAgents) counts.byTurn[turn] = (counts.byTurn[turn] ?? 0) + 1
  else counts.otherRequests++
  counts.bodyBytes += body.length
  if (turn === 1 && text.includes('READ-RESULT-MARK')) counts.readResults++
  if (turn === 2 && text.includes('WRITE-RESULT-MARK')) counts.writeResults++
  meter.enter(turn === 0)
  const send = () => {
    meter.leave()
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length }).end(reply)
  }
  if (mostMs === 0) send()
  else after(leastMs + Math.floor(Math.random() * (mostMs - leastMs + 1)), send)
}

const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const [first] = chunks
    const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
    if (request.method === 'POST' && request.url === '/v1/chat/completions') return chat(body, response)
    // Other requests of a pool (models, health, metrics) are not answered here.
    if (request.method !== 'GET') counts.otherRequests++
    return response.writeHead(404).end()
  })
})

server.listen(0, '127.0.0.1', 4096)
await once(server, 'listening')
process.on('disconnect', () => process.exit(0))
process.on('message', (question) => {
  process.send?.({ ...counts, load: meter.take() })
  if (question === 'take') counts = noCounts()
})
process.send?.(server.address())
