import { z } from 'zod'

/** A row of a Markdown table. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A value as the reference shows it; an empty cell for an empty one. */
export function shownValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return ''
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const Json = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).optional(),
  items: z.object({ enum: z.array(z.string()).optional() }).optional(),
  anyOf: z.array(z.unknown()).default([]),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
})
const names: Readonly<Record<string, string>> = {
  array: 'list',
  object: 'mapping',
  boolean: 'boolean',
  number: 'number',
}

/** The type of a JSON Schema for a person: `0 to 256` of a whole number, `number, 0 to 1`, `list`, the words of an enum. */
export function typeText(schema: unknown): string {
  const json = Json.parse(schema)
  if (json.enum !== undefined) return wordsText(json.enum)
  if (json.items?.enum !== undefined) return `list of ${wordsText(json.items.enum)}`
  if (json.anyOf.length > 0) return [...new Set(json.anyOf.map(typeText))].join(' or ')
  if (Array.isArray(json.type)) return json.type.map((type) => names[type] ?? 'text').join(', ')
  if (json.type !== 'integer' && json.type !== 'number') return names[json.type ?? ''] ?? 'text'
  const { minimum, exclusiveMinimum: above, maximum = Number.MAX_SAFE_INTEGER } = json
  const kind = json.type === 'number' ? 'number, ' : ''
  if (above !== undefined) return `${kind}over ${above}, at most ${maximum}`
  return kind + (maximum < Number.MAX_SAFE_INTEGER ? `${minimum} to ${maximum}` : `at least ${minimum}`)
}

function wordsText(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ')
}
