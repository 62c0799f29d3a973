import { unknownAgents } from '#bundles/bundle-files.ts'
import { AppError } from '#domain/error.ts'
import type { NodeId } from '#domain/ids.ts'
import { languages } from '#languages/syntax/grammars.ts'
import type { NotSentFile, RunRequest } from '#domain/run.ts'
import { RunRequestBody } from '#schemas/run-request-schema.ts'
import { camelKeys } from '#domain/wire-keys.ts'

/** Refuses also a language that has no grammar, which the schema of the wire does not know. */
const Request = RunRequestBody.safeExtend({
  languages: RunRequestBody.shape.languages.superRefine((names, context) => {
    const unknown = names?.find((name) => !languages.includes(name))
    if (unknown === undefined) return
    context.addIssue(`unknown language ${JSON.stringify(unknown.slice(0, 100))}; known: ${languages.join(', ')}`)
  }),
})

/** `nodes`: those that the run is limited to; undefined: no limit. */
export type ParsedRequest = {
  request: RunRequest
  nodes: readonly NodeId[] | undefined
  notSent: readonly NotSentFile[] | undefined
}

/** INTAKE_008 names every field at fault, INTAKE_006 unknown agents. `part`: where the request stands, for its errors. */
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
  const { nodes, not_sent: notSent, ...wire } = parsed.data
  const { verify, languages: wanted, ...same } = camelKeys(wire)
  const { agents, objective, approval, paths, exclude, nodeKinds, include, errorPolicy, dryRun } = same
  const { limits, budget, priority, accept, setup, labels } = same
  const unknown = unknownAgents(agents, knownAgents)
  if (unknown !== undefined) throw new AppError('INTAKE_006', unknown)
  // An idempotency key compares the JSON of the request, so the order of its fields counts.
  const request = {
    agents: [...new Set(agents)],
    objective,
    approval,
    paths,
    exclude,
    languages: wanted,
    nodeKinds,
    include,
    errorPolicy,
    dryRun,
    limits,
    ...(budget === undefined ? {} : { budget }),
    priority,
    ...(accept === 'none' ? {} : { accept }),
    ...(verify === undefined ? {} : { verify: camelKeys(verify) }),
    ...(setup === undefined ? {} : { setup }),
    labels,
  }
  return { request, nodes, notSent }
}
