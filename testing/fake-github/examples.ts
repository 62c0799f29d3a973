import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { apiExample, apiDocument, isRecord, valueAt } from './github-document.ts'

/**
 * Answers and webhooks are GitHub's own examples with other values where somebody reads them: from its OpenAPI document, and from the
 * payloads that it has really sent. So links, descriptions and counts are those of the examples.
 */
export type Json = Record<string, unknown>

/** Returns the example of an operation's good answer, such as `GET /app`. */
export function answerExample(operation: string): Json {
  const example = apiExample(operation)
  if (!isRecord(example)) throw new Error(`GitHub's document has no example for ${operation}`)
  return example
}

/** Returns what one entry of a list looks like, where the answer is a list. */
export function entryExample(operation: string, ...keys: string[]): Json {
  const example = apiExample(operation)
  const list = keys.length === 0 ? example : valueAt(example, ...keys)
  const entry: unknown = Array.isArray(list) ? list[0] : undefined
  if (!isRecord(entry)) throw new Error(`GitHub's document has no list as example for ${operation}`)
  return entry
}

let sent: unknown
const chosen = new Map<string, Json>()

/** Returns a payload that GitHub has sent: the first that its own document allows, else the first. */
export function webhookExample(event: string, action?: string): Json {
  const key = `${event} ${action}`
  const known = chosen.get(key)
  if (known !== undefined) return known
  const main = import.meta.resolve('@octokit/webhooks-examples')
  sent ??= JSON.parse(readFileSync(fileURLToPath(new URL('../api.github.com/index.json', main)), 'utf8'))
  const events: unknown[] = Array.isArray(sent) ? sent : []
  const examples = valueAt(
    events.find((one) => valueAt(one, 'name') === event),
    'examples',
  )
  const all = (Array.isArray(examples) ? examples : []).filter(isRecord).filter((one) => one['action'] === action)
  const example = all.find((one) => apiDocument().checkWebhook(event, action, one) === undefined) ?? all[0]
  if (example === undefined) throw new Error(`there is no example of the webhook ${key}`)
  chosen.set(key, example)
  return example
}

/** Replaces fields of an example: objects are merged, all else takes the place of what is there. */
export function like(example: unknown, fields: Json): Json {
  const made: Json = isRecord(example) ? { ...example } : {}
  for (const [name, value] of Object.entries(fields)) made[name] = isRecord(value) ? like(made[name], value) : value
  return made
}
