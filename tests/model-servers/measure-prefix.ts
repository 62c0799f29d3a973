import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { proxy } from 'hono/proxy'
import { z } from 'zod'
import { boundPort } from '#platform/http-health.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { repository } from '../program.ts'
import { measureRun, type ModelOrder } from './measure-server.ts'
import { modelName } from './start-server.ts'

const Counted = z.object({
  usage: z.object({ prompt_tokens: z.int(), prompt_tokens_details: z.object({ cached_tokens: z.int() }).optional() }),
})

/** Counts prompts by the server's own counters: all their tokens, and those that it had read before. */
export type PrefixFigures = { operations: number; requests: number; promptTokens: number; cachedTokens: number }

/**
 * Measures how much of a run's prompts the server has read before. It reads each prompt of `docstring` over the example and writes
 * one token; the rehearsal model answers, so that the run is the same with every model and does not wait for texts.
 */
export async function measurePrefix(order: ModelOrder, limit: number): Promise<PrefixFigures> {
  const figures = { requests: 0, promptTokens: 0, cachedTokens: 0 }
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  const app = new Hono()
  app.post('/v1/chat/completions', async (c) => {
    const text = await c.req.text()
    const { usage } = await readByServer(order, JSON.parse(text))
    // What Remora tries out of a server does not name the agent's tool.
    if (text.includes('write_docstring')) {
      figures.requests += 1
      figures.promptTokens += usage.prompt_tokens
      figures.cachedTokens += usage.prompt_tokens_details?.cached_tokens ?? 0
    }
    return proxy(`${rehearsal.url}/chat/completions`, { method: 'POST', headers: c.req.raw.headers, body: text })
  })
  app.all('*', (c) => proxy(`${rehearsal.origin}${c.req.path}`, { headers: c.req.raw.headers }))
  const answer = getRequestListener(app.fetch)
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `http://127.0.0.1:${boundPort(server)}/v1`
    const source = join(repository, 'examples/inventory')
    const { operations } = await measureRun({ ...order, url }, { source, agents: 'docstring', limit })
    return { operations, ...figures }
  } finally {
    server.close()
    await rehearsal.close()
  }
}

/** Returns what the server counts of the prompt of this request. */
async function readByServer({ url, signal }: ModelOrder, asked: Record<string, unknown>) {
  const { messages, tools } = asked
  const body = JSON.stringify({ model: modelName, messages, tools, max_tokens: 1 })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body, signal })
  return Counted.parse(await answer.json())
}
