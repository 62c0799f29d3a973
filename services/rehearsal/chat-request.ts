import { z } from 'zod'

const Call = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) })

const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  tool_calls: z.array(Call).nullish(),
  tool_call_id: z.string().optional(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

const ChatTool = z.object({
  function: z.object({ name: z.string(), parameters: z.unknown().optional(), strict: z.boolean().nullish() }),
})

export const ChatRequest = z.object({
  model: z.string(),
  messages: z.array(ChatMessage).min(1),
  tools: z.array(ChatTool).default([]),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.object({ function: z.object({ name: z.string() }) })])
    .default('auto'),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  structured_outputs: z.record(z.string(), z.unknown()).optional(),
  user: z.string().optional(),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>
