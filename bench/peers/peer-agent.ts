import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { nodeMessage, nodeSource } from '../model/node-source.ts'

export type ReplyMessage = {
  role: 'assistant'
  content: string | null
  tool_calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}
type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'tool'; tool_call_id: string; content: string }
  | ReplyMessage
export type ChatRequest = {
  model: string
  messages: ChatMessage[]
  tools: ReturnType<typeof tool>[]
  tool_choice: 'required' | { type: 'function'; function: { name: string } }
  temperature: number
  max_tokens: number
}

const maxTurns = 3

/**
 * The hand-written loop on node `number`: the same prompt and turns as the bundle, tools in memory, nothing stored and
 * nothing checked. This is the least an agent of three turns can cost.
 */
export async function runPeerAgent(
  number: number,
  post: (request: ChatRequest) => Promise<ReplyMessage>,
): Promise<void> {
  const source = nodeSource(number)
  const files = new Map([[source.path, source.file]])
  const messages: ChatMessage[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: nodeMessage(source) },
  ]
  const request = { model: 'fake', messages, tools, tool_choice: 'required' as const, temperature: 0, max_tokens: 512 }
  for (let turn = 0; turn < maxTurns; turn++) {
    const message = await post(request)
    messages.push(message)
    for (const call of message.tool_calls) {
      if (call.function.name === 'submit_result') return
      const answer = carryOut(call.function.name, call.function.arguments, files)
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(answer) })
    }
  }
  throw new Error('no submission within three turns')
}

/** Unchecked, as in the other hand-written parts of a peer, since the least loop does not check anything. */
function carryOut(name: string, given: string, files: Map<string, string>): object {
  const { path = '', content = '' }: { path?: string; content?: string } = JSON.parse(given)
  if (name === 'read_file') return { result: files.get(path) ?? null }
  files.set(path, content)
  return { result: 'WRITE-RESULT-MARK', bytes: content.length }
}

const Bundle = z.object({ initial_context: z.object({ system_prompt: z.string() }) })
const bundleFile = new URL('../agents/loop/bundle.yaml', import.meta.url)
/** The system prompt of the benchmark's bundle. */
export const systemPrompt = Bundle.parse(parse(readFileSync(bundleFile, 'utf8'))).initial_context.system_prompt

export const text = (description: string) => ({ type: 'string', description })
/** The bundle's tools as the wire has them. */
export const tools = [
  tool('read_file', 'Read a text file of the workspace.', { path: text('Path in the workspace') }),
  tool('write_file', 'Write a text file of the workspace.', {
    path: text('Path in the workspace'),
    content: text('The whole new text'),
  }),
  tool('submit_result', 'Submit the result. Ends the work.', {
    summary: text('One sentence'),
    status: { type: 'string', enum: ['success', 'failed', 'skipped'] },
  }),
]

/** A function that the model may call, with all of its properties. */
export function tool(name: string, description: string, properties: Record<string, object>) {
  const parameters = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  return { type: 'function' as const, function: { name, description, parameters } }
}
