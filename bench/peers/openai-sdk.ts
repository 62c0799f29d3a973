import OpenAI from 'openai'
import { mapBounded } from '#objects/map-bounded.ts'
import { measurePeer, peerArguments } from './measure-peer.ts'
import { runPeerAgent, type ChatRequest, type ReplyMessage } from './peer-agent.ts'

const given = peerArguments()
const client = new OpenAI({ baseURL: given.url, apiKey: 'none', maxRetries: 0 })

async function post(request: ChatRequest): Promise<ReplyMessage> {
  const { choices } = await client.chat.completions.create(request)
  const message = choices[0]?.message
  if (message === undefined) throw new Error('the completion has no choice')
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  return { role: 'assistant', content: message.content, tool_calls: calls }
}

await measurePeer(given, (numbers) => mapBounded(numbers, given.concurrency, (number) => runPeerAgent(number, post)))
