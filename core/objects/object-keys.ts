import type { ProjectId, RunId } from '#domain/ids.ts'

/** Where each kind of object lies in the bucket (contract.md §8). Nothing else builds a key. */
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
