import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { answerTo } from './play-agent.ts'
import type { ModelCounts } from './start-fake-model.ts'

// Child process of start-fake-model.ts: a chat completions server that answers at once, counts, and tells its counts
// when it is asked over IPC. It is meant to cost as little as node:http allows.
let counts = noCounts()

function noCounts(): ModelCounts {
  return { byTurn: [0, 0, 0, 0], readResults: 0, writeResults: 0, otherRequests: 0, bodyBytes: 0 }
}

function chat(body: Buffer, response: ServerResponse): void {
  const text = body.toString('latin1')
  const { turn, reply } = answerTo(text)
  counts.byTurn[turn] = (counts.byTurn[turn] ?? 0) + 1
  counts.bodyBytes += body.length
  if (turn === 1 && text.includes('READ-RESULT-MARK')) counts.readResults++
  if (turn === 2 && text.includes('WRITE-RESULT-MARK')) counts.writeResults++
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length }).end(reply)
}

const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const [first] = chunks
    const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
    if (request.method === 'POST' && request.url === '/v1/chat/completions') return chat(body, response)
    counts.otherRequests++
    return response.writeHead(404).end()
  })
})

server.listen(0, '127.0.0.1', 4096)
await once(server, 'listening')
process.on('disconnect', () => process.exit(0))
process.on('message', (question) => {
  process.send?.(counts)
  if (question === 'take') counts = noCounts()
})
process.send?.(server.address())
