import type { ToolDefinition } from '#domain/turn.ts'
import type { ServerLine } from '../wire/server-line.ts'
import { isRefusal } from '../wire/try-failure.ts'

/**
 * A server that takes `strict: true` may still refuse a schema that it cannot hold a model to, such as one with a pattern. A
 * refused request with strict tools is sent once more without; when that is taken, those tools go so from then on.
 */
export function openStrictOrPlain(ask: ServerLine['ask']): ServerLine['ask'] {
  const plain = new WeakSet<readonly ToolDefinition[]>()
  return async (request, capabilities, signal) => {
    const { tools } = request
    const asPlain = { ...capabilities, strictArguments: false }
    if (tools.length === 0 || !capabilities.strictArguments) return ask(request, capabilities, signal)
    if (plain.has(tools)) return ask(request, asPlain, signal)
    try {
      return await ask(request, capabilities, signal)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const answer = await ask(request, asPlain, signal)
      plain.add(tools)
      return answer
    }
  }
}
