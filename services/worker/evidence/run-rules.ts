import { type Operation, originalId } from '#domain/operation.ts'
import type { PathRules } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getRepositoryRules, pathRulesOf, type RepositoryRules } from '#objects/repository-rules.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'

export type RunRules = ReturnType<typeof runRules>

export type ByteRange = { startByte: number; endByte: number }

/** Bytes of its file that an operation's agent works on, and the ranges in them that another node's agent works on. */
export type AgentParts = { own: readonly ByteRange[]; others: readonly ByteRange[] }

/**
 * The parts of an operation; `own` is empty if it was planned for something other than lint faults. One that repeats another has
 * the parts of that: the rules are those of the plan.
 */
export function agentParts(
  rules: Pick<RunRules, 'agentRanges'>,
  { node, ...operation }: Pick<Operation, 'operationId' | 'repeats'> & { node: { path: string } },
): AgentParts {
  const ranges = rules.agentRanges(node.path)
  const id = originalId(operation)
  const own = ranges.filter((range) => range.operationId === id)
  const isInside = ({ startByte, endByte }: ByteRange) =>
    own.some((range) => range.startByte <= startByte && endByte <= range.endByte)
  return { own, others: ranges.filter((range) => range.operationId !== id && isInside(range)) }
}

export type ReadRunRules = (run: Pick<Run, 'projectId' | 'runId' | 'rulesKey'>) => Promise<RunRules>

const cachedRuns = 20

/** Reads the rules of a run once. A run of an earlier version has none, and gets the defaults. */
export function openRunRules(objects: Pick<ObjectStore, 'get'>): ReadRunRules {
  const cache = openCachedAnswers<RunRules>({ max: cachedRuns })
  return async ({ projectId, runId, rulesKey }) => {
    if (rulesKey === null) return runRules(undefined)
    const ref = { projectId, runId, hash: rulesKey }
    return cache.get(`${runId}/${rulesKey}`, async () => runRules(await getRepositoryRules(objects, ref)))
  }
}

export function runRules(rules: RepositoryRules | undefined) {
  return {
    of: (path: string): PathRules => pathRulesOf(rules, path),
    /** Bytes of a file that agents work on, and that its mechanical fixes must not change. */
    agentRanges: (path: string) => rules?.files[path]?.agentRanges ?? [],
  }
}
