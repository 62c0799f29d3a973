import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { RequestedCall } from '#domain/turn.ts'

const Arguments = z.union([z.record(z.string(), z.unknown()), z.string()])
const ContentCall = z.union([
  z.object({ name: z.string().min(1), arguments: Arguments }),
  z.object({ name: z.string().min(1), parameters: Arguments }),
])

/**
 * The tool call a model wrote as its content, `{"name", "arguments" | "parameters"}` and nothing around it, flagged as
 * `parsedFromContent`; undefined when the content is anything else. Arguments that are text are passed on as they are.
 */
export function parseContentCall(content: string): RequestedCall | undefined {
  const text = content.trim()
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  const parsed = ContentCall.safeParse(parseJson(text))
  if (!parsed.success) return undefined
  const given = 'arguments' in parsed.data ? parsed.data.arguments : parsed.data.parameters
  const args = typeof given === 'string' ? given : JSON.stringify(given)
  return { id: 'content_call_1', name: parsed.data.name, arguments: args, parsedFromContent: true }
}
