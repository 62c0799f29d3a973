import type { JsonSchema, ToolDefinition } from '#domain/turn.ts'
import { isRecord } from '#domain/json.ts'

/** The tools in a line each, for the end of a system prompt: `open_file(path: string): Open a file.` */
export function toolGuide(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(
    ({ name, description, parameters }) => `- ${name}(${argumentsOf(parameters)}): ${description}`,
  )
  return ['Tools:', ...lines].join('\n')
}

/** A system prompt that ends with it. */
export function withToolGuide(systemPrompt: string, guide: string): string {
  return `${systemPrompt.trimEnd()}\n\n${guide}`
}

function argumentsOf({ properties, required }: JsonSchema): string {
  if (!isRecord(properties)) return ''
  const needed = new Set<unknown>(Array.isArray(required) ? required : [])
  return Object.entries(properties)
    .map(([name, schema]) => `${name}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`)
    .join(', ')
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return 'any'
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  if (isRecord(schema['properties'])) return `{ ${argumentsOf(schema)} }`
  if (schema['type'] === 'array') return `list of ${typeOf(schema['items'])}`
  return typeof schema['type'] === 'string' ? schema['type'] : 'any'
}
