import { z } from 'zod'
import type { ChatRequest } from './chat-request.ts'

const refusalNames = [
  'system_role',
  'tools',
  'auto',
  'required',
  'named',
  'strict_schemas',
  'strict_arguments',
  'lengths',
  'parallel_calls',
  'tool_messages',
  'json_schema',
  'structured_outputs',
  'stream_usage',
] as const
export const RefusalName = z.enum(refusalNames)
type RefusalName = z.infer<typeof RefusalName>

/** Features that the server answers with 400, as servers do that lack them. Names that are missing or false are accepted. */
export const Refusals = z
  .partialRecord(RefusalName, z.boolean())
  .transform((flags) => new Set(refusalNames.filter((name) => flags[name] === true)))
export type Refusals = z.infer<typeof Refusals>

const isAskedFor: { [name in RefusalName]: (chat: ChatRequest) => boolean } = {
  system_role: ({ messages }) => messages.some(({ role }) => role === 'system'),
  tools: ({ tools }) => tools.length > 0,
  auto: ({ tools, tool_choice: choice }) => tools.length > 0 && choice === 'auto',
  required: ({ tool_choice: choice }) => choice === 'required',
  named: ({ tool_choice: choice }) => typeof choice === 'object',
  strict_schemas: ({ tools }) => JSON.stringify(tools).includes('"additionalProperties"'),
  strict_arguments: ({ tools }) => tools.some((tool) => tool.function.strict === true),
  lengths: (chat) => JSON.stringify([chat.tools, chat.response_format ?? {}]).includes('"maxLength"'),
  parallel_calls: ({ parallel_tool_calls: parallel }) => parallel !== undefined,
  tool_messages: ({ messages }) => messages.some((message) => message.role === 'tool' || message.tool_calls),
  json_schema: ({ response_format: format }) => format?.type === 'json_schema',
  structured_outputs: ({ structured_outputs: outputs }) => outputs !== undefined,
  stream_usage: ({ stream_options: options }) => options?.include_usage === true,
}

/** The first refused feature that a request asks for. */
export function refusedIn(chat: ChatRequest, refusals: Refusals): RefusalName | undefined {
  return refusalNames.find((name) => refusals.has(name) && isAskedFor[name](chat))
}
