import type { AgentBundle } from '#domain/agent-bundle.ts'
import { sha256 } from '#domain/hash.ts'

/** The name of a bundle's content: SHA-256 of its JSON with sorted keys, so that the order of writing does not count. */
export function bundleHash(bundle: AgentBundle): string {
  return sha256(JSON.stringify(bundle, sortedKeys))
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
