import type { ProjectId, RunId } from '#domain/ids.ts'

/** Where each kind of object lies in the bucket. Nothing else builds a key. */
export const objectKeys = {
  upload: (project: ProjectId, run: RunId) => `projects/${project}/uploads/${run}`,
  blob: (project: ProjectId, hash: string) => `projects/${project}/blobs/${hash}`,
  tree: (project: ProjectId, hash: string) => `projects/${project}/trees/${hash}`,
  snapshot: (project: ProjectId, id: string) => `projects/${project}/snapshots/${id}.json`,
  attempt: (project: ProjectId, hash: string) => `projects/${project}/attempts/${hash}.json`,
  bundle: (project: ProjectId, hash: string) => `projects/${project}/bundles/${hash}.json`,
  /** `name` is `<blob sha256>.<language>.<query pack hash>.json`. */
  nodeIndex: (project: ProjectId, name: string) => `projects/${project}/node-index/${name}`,
  composition: (project: ProjectId, run: RunId, hash: string) =>
    `projects/${project}/runs/${run}/compositions/${hash}.json`,
  eventSegment: (project: ProjectId, run: RunId, { first, last }: { first: number; last: number }) =>
    `projects/${project}/runs/${run}/events/${first}-${last}.jsonl`,
  /** The code nodes of a run: the list of their pages, a page, and where each id lies (node-list.ts). */
  nodeList: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/nodes/${hash}.json`,
  nodePage: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/nodes/${hash}.jsonl`,
  nodeIds: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/nodes/${hash}.ids`,
  /** The edges between them: the list of their pages, a page, and where those of each node lie (edge-list.ts). */
  edgeList: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/edges/${hash}.json`,
  edgePage: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/edges/${hash}.jsonl`,
  edgeSpans: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/edges/${hash}.spans`,
  repositoryRules: (project: ProjectId, run: RunId, hash: string) =>
    `projects/${project}/runs/${run}/rules/${hash}.json`,
  planSummary: (project: ProjectId, run: RunId, hash: string) => `projects/${project}/runs/${run}/plans/${hash}.json`,
  /** Which ledger's runs refer to the project's objects. */
  ledgerMark: (project: ProjectId) => `projects/${project}/ledger.json`,
} as const

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
