import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { boundPort } from '#platform/http-health.ts'

// Child process of streams-bench.ts: a server of events without a log. It makes an event for each that its parent asks for, and writes the
// same bytes to all that are connected, whether they take them or not. Its argument is the end of an event, behind its time.
const readers = new Set<ServerResponse>()
const rest = process.argv[2] ?? ''
let seq = 0
const eventOf = () => `id: ${(seq += 1)}\ndata: {"v":1,"seq":${seq},"ts":"${new Date().toISOString()}",${rest}\n\n`

process.on('message', (count) => {
  const bytes = Buffer.from(Array.from({ length: Number(count) }, eventOf).join(''))
  for (const reader of readers) reader.write(bytes)
})
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: connected\ndata: {}\n\n')
  readers.add(response)
  response.once('close', () => readers.delete(response))
})
process.once('disconnect', () => process.exit(0))
server.listen({ port: 0, host: '127.0.0.1', backlog: 2_000 })
await once(server, 'listening')
process.send?.(boundPort(server))
