import { isRecord } from '#domain/json.ts'
import { filePath, type Conversation } from '../conversation.ts'
import { call, type Rule } from './rule.ts'

/**
 * Plays a bundle that no other rule knows, so that its author sees it run: calls each tool once, in the order they are
 * offered, with the plainest arguments its schema takes, and submits what came of it.
 */
export const anyTools: Rule = {
  plays: () => true,
  next(conversation) {
    const called = new Set(conversation.steps.map(({ tool }) => tool))
    const next = [...conversation.tools].find(([name]) => name !== 'submit_result' && !called.has(name))
    return next === undefined ? undefined : call(next[0], plainArguments(next[1], conversation))
  },
  conclude({ steps }) {
    const tools = [...new Set(steps.filter(({ failed }) => !failed).map(({ tool }) => tool))]
    if (tools.length === 0) {
      const status = steps.length === 0 ? 'skipped' : 'failed'
      return { status, summary: steps.length === 0 ? 'There is no tool to call.' : 'No tool worked.', changedFiles: [] }
    }
    return { status: 'success', summary: `Called each tool once: ${tools.join(', ')}.`, changedFiles: [] }
  },
}

/** Only what is required; a path is that of the file the conversation is about. */
function plainArguments(schema: unknown, conversation: Conversation): Record<string, unknown> {
  if (!isRecord(schema) || !isRecord(schema['properties']) || !Array.isArray(schema['required'])) return {}
  const required = new Set<unknown>(schema['required'])
  return Object.fromEntries(
    Object.entries(schema['properties'])
      .filter(([name]) => required.has(name))
      .map(([name, property]) => [name, plainValue(name, property, conversation)]),
  )
}

function plainValue(name: string, property: unknown, conversation: Conversation): unknown {
  const { type, enum: values, minimum, anyOf } = isRecord(property) ? property : {}
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return plainValue(name, anyOf[0], conversation)
  switch (type) {
    case 'string':
      return name.includes('path') ? (filePath(conversation) ?? 'README.md') : 'rehearsal'
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return false
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return null
  }
}
