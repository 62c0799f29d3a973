import { isRecord } from '#domain/json.ts'
import { withoutSecrets } from '#platform/without-secrets.ts'

/** What stands behind it may be the key of a server further on, which nobody here knows. A word of letters alone is none. */
const bearer = /\b(bearer\s+)(?=[^\s"'<>]*[^\sa-z"'<>.,:;!?)])[^\s"'<>]+/gi

/**
 * What a server said, JSON that is not `isTooDeep`, without the key it was sent: servers and gateways say back what they were
 * sent, and an error's words go into events, records and reports.
 */
export function withoutKey(said: unknown, key: string | undefined): unknown {
  if (typeof said === 'string') return hideKey(said, key)
  if (Array.isArray(said)) return said.map((item) => withoutKey(item, key))
  if (!isRecord(said)) return said
  return Object.fromEntries(Object.entries(said).map(([name, item]) => [hideKey(name, key), withoutKey(item, key)]))
}

export function hideKey(text: string, key: string | undefined): string {
  return withoutSecrets(text, key === undefined ? [] : [key]).replace(bearer, '$1[secret]')
}
