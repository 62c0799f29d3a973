import type { z } from 'zod'
import { unknownAgents } from '#bundles/bundle-files.ts'
import { AppError } from '#domain/error.ts'
import type { NodeId } from '#domain/ids.ts'
import { languages } from '#languages/syntax/grammars.ts'
import type { NotSentFile, RunRequest } from '#domain/run.ts'
import type { GateRequest } from '#domain/gate.ts'
import type { GateShape } from '#schemas/gate-schema.ts'
import { RunRequestBody } from '#schemas/run-request-schema.ts'

function checkLanguages(names: readonly string[] | undefined, context: z.RefinementCtx): void {
  const unknown = names?.find((name) => !languages.includes(name))
  if (unknown === undefined) return
  context.addIssue(`unknown language ${JSON.stringify(unknown.slice(0, 100))}; known: ${languages.join(', ')}`)
}

/** Refuses also a language that has no grammar, which the schema of the wire does not know. */
const Request = RunRequestBody.safeExtend({
  languages: RunRequestBody.shape.languages.superRefine(checkLanguages),
})

/** `nodes`: those that the run is limited to; undefined: no limit. */
export type ParsedRequest = {
  request: RunRequest
  nodes: readonly NodeId[] | undefined
  notSent: readonly NotSentFile[] | undefined
}

/**
 * The request in our words. INTAKE_008 names every field at fault, INTAKE_006 the agents that are not in `knownAgents`. An agent named twice counts once. `part`: where the request stands, for its errors.
 */
export function parseRunRequest(
  body: unknown,
  knownAgents: readonly string[],
  part: 'request' | 'body' = 'request',
): ParsedRequest {
  const parsed = Request.safeParse(body)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${[part, ...issue.path].join('.')}: ${issue.message}`)
    throw new AppError('INTAKE_008', faults.join('; '))
  }
  const {
    nodes,
    not_sent: notSent,
    node_kinds: nodeKinds,
    error_policy: errorPolicy,
    dry_run: dryRun,
    ...same
  } = parsed.data
  const { agents, paths, exclude, include, limits, budget, priority, accept, verify, setup, labels } = same
  const unknown = unknownAgents(agents, knownAgents)
  if (unknown !== undefined) throw new AppError('INTAKE_006', unknown)
  // An idempotency key compares the JSON of the request, so the order of its fields counts.
  const request = {
    agents: [...new Set(agents)],
    paths,
    exclude,
    languages: same.languages,
    nodeKinds,
    include,
    errorPolicy,
    dryRun,
    limits,
    ...(budget === undefined ? {} : { budget }),
    priority,
    ...(accept === 'none' ? {} : { accept }),
    ...(verify === undefined ? {} : { verify: gateRequest(verify) }),
    ...(setup === undefined ? {} : { setup }),
    labels,
  }
  return { request, nodes, notSent }
}

/** Says in our words what callers ask for. */
function gateRequest({ max_runs: maxRuns, limit_s: limitS, ...same }: GateShape): GateRequest {
  return { ...same, maxRuns, limitS }
}
