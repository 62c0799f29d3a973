import type { AgentBundle } from '#domain/agent-bundle.ts'
import { sha256 } from '#domain/hash.ts'
import { sortedKeys } from '#domain/json.ts'

/** The name of a bundle's content: SHA-256 of its JSON with sorted keys, so that the order of writing does not count. */
export function bundleHash(bundle: AgentBundle): string {
  return sha256(JSON.stringify(bundle, sortedKeys))
}
