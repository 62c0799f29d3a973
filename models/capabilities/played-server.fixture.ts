import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'
import { boundPort } from '#platform/http-health.ts'
import { parseJson } from '#domain/json.ts'

const Body = z.object({
  model: z.string(),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.string().nullish(),
      tool_calls: z.array(z.unknown()).nullish(),
      tool_call_id: z.string().optional(),
    }),
  ),
  tools: z
    .array(
      z.object({ function: z.object({ name: z.string(), parameters: z.unknown(), strict: z.boolean().optional() }) }),
    )
    .optional(),
  tool_choice: z.union([z.string(), z.object({ function: z.object({ name: z.string() }) })]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  structured_outputs: z.record(z.string(), z.unknown()).optional(),
  stream: z.boolean().optional(),
  stream_options: z.unknown().optional(),
  user: z.string().optional(),
})
export type PlayedBody = z.infer<typeof Body>

/** A status alone is a refusal, with the server's words where they are known. */
export type PlayedAnswer = { status: number; words?: string } | 'call' | SaidAnswer | 'hang' | 'headers only'
/** `deaf`: the prompt was made without the tools. */
type SaidAnswer = { content: string; deaf?: true; finishReason?: string }

export type PlayedServer = { url: string; bodies: PlayedBody[]; close(): void }

/** A chat completions server that does with a request what `play` says; `get` answers other paths. */
export async function playServer(
  play: (body: PlayedBody) => PlayedAnswer,
  get: (path: string) => object | 'hang' | 'broken' | undefined = () => undefined,
): Promise<PlayedServer> {
  const bodies: PlayedBody[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const send = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (incoming.method === 'GET') {
        const found = get(incoming.url ?? '')
        if (found === 'hang') return undefined
        if (found === 'broken') return send(503, {})
        return found === undefined ? send(404, {}) : send(200, found)
      }
      const body = Body.parse(parseJson(Buffer.concat(chunks).toString()))
      bodies.push(body)
      const answer = play(body)
      if (answer === 'hang') return undefined
      if (answer === 'headers only') {
        const type = body.stream === true ? 'text/event-stream' : 'application/json'
        return response.writeHead(200, { 'content-type': type }).flushHeaders()
      }
      if (typeof answer === 'object' && 'status' in answer) {
        return send(answer.status, { error: { message: answer.words ?? 'no' } })
      }
      return send(200, completion(answer, body))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${boundPort(server)}/v1`,
    bodies,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function completion(answer: 'call' | SaidAnswer, { messages, tools = [] }: PlayedBody): object {
  const called = { name: tools[0]?.function.name ?? 'none', arguments: '{"word":"hello"}' }
  const message =
    answer === 'call'
      ? { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: called }] }
      : { content: answer.content }
  const prompt = answer !== 'call' && answer.deaf ? [messages] : [messages, tools]
  const usage = { prompt_tokens: Math.ceil(JSON.stringify(prompt).length / 4), completion_tokens: 2 }
  const finishReason = answer === 'call' ? 'tool_calls' : (answer.finishReason ?? 'stop')
  return { choices: [{ message: { role: 'assistant', ...message }, finish_reason: finishReason }], usage }
}
