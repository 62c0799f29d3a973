import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { inspect } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { openModelPool } from '#models/model-pool.ts'
import { boundPort } from '#platform/http-health.ts'
import { runAgent } from '#stages/operate/agent/run-agent.ts'
import { fileAgent } from './file-agent.fixture.ts'

let server: Server | undefined
afterEach(() => server?.close().closeAllConnections())

it('the API key that a server repeats in its error appears in no error, event or exchange', async () => {
  server = createServer((incoming, response) => {
    const error = { message: `bad credentials: ${incoming.headers.authorization}`, headers: incoming.headers }
    incoming.resume().once('end', () => response.writeHead(401).end(JSON.stringify({ error })))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = { url: `http://127.0.0.1:${boundPort(server)}/v1`, apiKey: 'sk-very-secret', models: ['rehearsal'] }
  const pool = openModelPool({ endpoints: [endpoint], requestTimeoutMs: 20_000, retryBudgetMs: 0, maxInFlight: 1 })
  const { agent, events } = fileAgent(pool)
  const thrown = await runAgent(agent, new AbortController().signal).catch((error: unknown) => error)
  await pool.close()
  const shown = inspect({ thrown, events, exchanges: agent.transcript.exchanges }, { depth: 12 })
  expect(shown).toMatch(/answered 401 .*\[secret\]/)
  expect(shown).not.toContain('very-secret')
})
