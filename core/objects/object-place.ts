import type { ProjectId, RunId } from '#domain/ids.ts'

/** What an object is, read from its key: the reverse of object-keys.ts. */
export type ObjectPlace =
  | { kind: 'blob' | 'tree' | 'snapshot' | 'attempt' | 'bundle'; hash: string }
  | { kind: 'node_index'; blobHash: string }
  | { kind: 'upload'; key: string }
  | { kind: 'run_object'; runId: RunId }
  | { kind: 'ledger_mark' }

const hash = '(?<hash>[0-9a-f]{64})'
const run = '(?<run>r[a-z0-9]{8,40})'
const forms: readonly [RegExp, (name: string, key: string) => ObjectPlace][] = [
  [new RegExp(`^blobs/${hash}$`), (name) => ({ kind: 'blob', hash: name })],
  [new RegExp(`^trees/${hash}$`), (name) => ({ kind: 'tree', hash: name })],
  [new RegExp(`^snapshots/${hash}\\.json$`), (name) => ({ kind: 'snapshot', hash: name })],
  [new RegExp(`^attempts/${hash}\\.json$`), (name) => ({ kind: 'attempt', hash: name })],
  [new RegExp(`^bundles/${hash}\\.json$`), (name) => ({ kind: 'bundle', hash: name })],
  [new RegExp(`^node-index/${hash}\\.[^/]*\\.json$`), (name) => ({ kind: 'node_index', blobHash: name })],
  [new RegExp(`^uploads/${run}$`), (_, key) => ({ kind: 'upload', key })],
  [
    new RegExp(`^runs/${run}/(?:compositions|edges|events|nodes|plans|rules)/[^/]+$`),
    (name) => ({ kind: 'run_object', runId: name }),
  ],
  [/^(?<mark>ledger\.json)$/, () => ({ kind: 'ledger_mark' })],
]

/** Undefined for a key that nothing of ours makes. */
export function objectPlace(project: ProjectId, key: string): ObjectPlace | undefined {
  const prefix = `projects/${project}/`
  if (!key.startsWith(prefix)) return undefined
  const rest = key.slice(prefix.length)
  for (const [form, placeOf] of forms) {
    const [, name] = form.exec(rest) ?? []
    if (name !== undefined) return placeOf(name, key)
  }
  return undefined
}
