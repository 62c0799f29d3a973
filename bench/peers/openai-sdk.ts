import OpenAI from 'openai'
import { measureLoop } from './measure-peer.ts'
import { runPeerAgent, type ChatRequest, type ReplyMessage } from './peer-agent.ts'

await measureLoop(({ url }) => {
  const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 })
  return (number) => runPeerAgent(number, (request) => post(client, request))
})

async function post(client: OpenAI, request: ChatRequest): Promise<ReplyMessage> {
  const { choices } = await client.chat.completions.create(request)
  const message = choices[0]?.message
  if (message === undefined) throw new Error('the completion has no choice')
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  return { role: 'assistant', content: message.content, tool_calls: calls }
}
