import type { ProjectId, RunId } from '#domain/ids.ts'

const ofRun = (project: ProjectId, run: RunId) => `projects/${project}/runs/${run}`

/** Begins the keys of all objects that belong to one run alone, other than its upload and its attempts. */
export const runPrefix = (project: ProjectId, run: RunId) => `${ofRun(project, run)}/`

export const objectKeys = {
  upload: (project: ProjectId, run: RunId) => `projects/${project}/uploads/${run}`,
  /** The archive of the commit that a run is compared with, until its snapshot is taken; each delivery has its own, and deletes it. */
  baseUpload: (project: ProjectId, run: RunId, token: string) => `projects/${project}/uploads/${run}.base.${token}`,
  blob: (project: ProjectId, hash: string) => `projects/${project}/blobs/${hash}`,
  tree: (project: ProjectId, hash: string) => `projects/${project}/trees/${hash}`,
  snapshot: (project: ProjectId, id: string) => `projects/${project}/snapshots/${id}.json`,
  attempt: (project: ProjectId, hash: string) => `projects/${project}/attempts/${hash}.json`,
  bundle: (project: ProjectId, hash: string) => `projects/${project}/bundles/${hash}.json`,
  /** `name` is `<blob sha256>.<language>.<query pack hash>.json`. */
  nodeIndex: (project: ProjectId, name: string) => `projects/${project}/node-index/${name}`,
  /** Holds what a setup has made, by what it was made from (services/setup/stage/setup-stage.ts). */
  environment: (project: ProjectId, hash: string) => `projects/${project}/environments/${hash}.tar.gz`,
  composition: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/compositions/${hash}.json`,
  /** Says which change sets are in a part of the accepted patch (patch-part.ts). */
  patchPart: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/parts/${hash}.json`,
  eventSegment: (project: ProjectId, run: RunId, { first, last }: { first: number; last: number }) =>
    `${ofRun(project, run)}/events/${first}-${last}.jsonl`,
  /** Data of an event that is too large for Redis. */
  eventPayload: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/payloads/${hash}.json`,
  /** Has what an attempt said that is over and left no record. `name`: `<operation>:<attempt>`. */
  pastAttempt: (project: ProjectId, run: RunId, name: string) =>
    `${ofRun(project, run)}/attempts/${name.replace(':', '-')}.json`,
  /** The code nodes of a run: the list of their pages, a page, and the position of each id (node-list.ts). */
  nodeList: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/nodes/${hash}.json`,
  nodePage: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/nodes/${hash}.jsonl`,
  nodeIds: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/nodes/${hash}.ids`,
  /** The edges between them: the list of their pages, a page, and the position of each node's edges (edge-list.ts). */
  edgeList: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/edges/${hash}.json`,
  edgePage: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/edges/${hash}.jsonl`,
  edgeSpans: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/edges/${hash}.spans`,
  repositoryRules: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/rules/${hash}.json`,
  planSummary: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/plans/${hash}.json`,
  itemReads: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/reads/${hash}.json`,
  /** Has what the model said that decided about a run (decision-record.ts). */
  decision: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/decisions/${hash}.json`,
  /** Is a text that an agent has made and reported. */
  artifact: (project: ProjectId, run: RunId, hash: string) => `${ofRun(project, run)}/artifacts/${hash}`,
  /** Says which ledger's runs refer to the project's objects. */
  ledgerMark: (project: ProjectId) => `projects/${project}/ledger.json`,
} as const

export type ObjectPlace =
  | { kind: 'blob' | 'tree' | 'snapshot' | 'attempt' | 'bundle' | 'environment'; hash: string }
  | { kind: 'node_index'; blobHash: string }
  | { kind: 'upload'; key: string; runId: RunId }
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
  [new RegExp(`^environments/${hash}\\.tar\\.gz$`), (name) => ({ kind: 'environment', hash: name })],
  [new RegExp(`^node-index/${hash}\\.[^/]*\\.json$`), (name) => ({ kind: 'node_index', blobHash: name })],
  [new RegExp(`^uploads/${run}(?:\\.base\\.[\\w-]+)?$`), (name, key) => ({ kind: 'upload', key, runId: name })],
  [
    new RegExp(
      `^runs/${run}/(?:artifacts|attempts|compositions|decisions|edges|events|nodes|parts|payloads|plans|reads|rules)/[^/]+$`,
    ),
    (name) => ({ kind: 'run_object', runId: name }),
  ],
  [/^(?<mark>ledger\.json)$/, () => ({ kind: 'ledger_mark' })],
]

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
