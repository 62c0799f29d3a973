import type { OperationId, RunId } from '#domain/ids.ts'

/**
 * Every key of one run. The braces put them into one slot of a cluster, which is what lets a script change several of
 * them in one step. `scripted` is the order in which every script of a run gets them (prelude.lua).
 */
export type RunKeys = {
  run: string
  events: string
  operations: string
  ready: string
  leases: string
  ended: string
  outbox: string
  cascade: string
  commands: string
  scripted: readonly string[]
  operation(id: OperationId): string
  /** The operation's node, apart from it: Redis keeps a hash of short values in a third of the memory. */
  node(id: OperationId): string
  /** The operations that wait for `id`, in plan order. */
  after(id: OperationId): string
}

export function runKeys(namespace: string, runId: RunId): RunKeys {
  const prefix = `${namespace}:{${runId}}:`
  const named = {
    run: `${prefix}run`,
    events: `${prefix}events`,
    operations: `${prefix}operations`,
    ready: `${prefix}ready`,
    leases: `${prefix}leases`,
    ended: `${prefix}ended`,
    outbox: `${prefix}outbox`,
    cascade: `${prefix}cascade`,
    commands: `${prefix}commands`,
  }
  return {
    ...named,
    scripted: Object.values(named),
    operation: (id) => `${prefix}op:${id}`,
    node: (id) => `${prefix}node:${id}`,
    after: (id) => `${prefix}after:${id}`,
  }
}

/** The run index, in one slot of its own: members of `active` are `<project>/<run>`, scores the time of acceptance. */
export function indexKeys(namespace: string): { active: string; runsOf(project: string): string } {
  return { active: `${namespace}:{all}:active`, runsOf: (project) => `${namespace}:{all}:runs:${project}` }
}

/** The results stream and, in the same slot, the last seq published of each run. */
export function resultKeys(namespace: string): { results: string; published: string } {
  return { results: `${namespace}:results`, published: `{${namespace}:results}:published` }
}
