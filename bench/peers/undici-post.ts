import { Pool } from 'undici'
import type { ChatRequest, ReplyMessage } from './peer-agent.ts'

/** Posts over keep-alive sockets, one per running agent, by undici's `request`; the reply is not checked. `note` gets the tokens of each. */
export function openUndiciPost(
  url: string,
  connections: number,
  note?: (tokens: number) => void,
): (request: ChatRequest) => Promise<ReplyMessage> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const headers = { 'content-type': 'application/json', authorization: 'Bearer none' }
  const path = `${pathname}/chat/completions`
  return async (request) => {
    const response = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(request) })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(text)
    const reply: { choices: [{ message: ReplyMessage }]; usage: { total_tokens: number } } = JSON.parse(text)
    note?.(reply.usage.total_tokens)
    return reply.choices[0].message
  }
}
