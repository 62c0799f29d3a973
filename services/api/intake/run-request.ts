import { z } from '@hono/zod-openapi'
import { unknownAgents } from '#bundles/bundle-files.ts'
import { AppError } from '#domain/error.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { NodeId } from '#domain/ids.ts'
import { languages } from '#syntax/grammars.ts'
import { isRecord } from '#domain/json.ts'
import { NotSentFile, maxNotSentFiles, maxSelectedNodes, RunRequest, skipKinds } from '#domain/run.ts'
import { anyControl, escapedCharacter } from '#domain/terminal-controls.ts'
import { named } from '../http/schema-parts.ts'
import { gateRequest, GateShape } from '../runs/gate-schema.ts'
import { SetupShape } from '../runs/setup-schema.ts'
import { AcceptPolicyShape, ErrorPolicyShape, Labels, RunBudget, RunLimits, SkipKindShape } from '../runs/run-schema.ts'

const fields = RunRequest.shape

function checkGlobs(globs: readonly string[] | undefined, context: z.RefinementCtx): void {
  const fault = globs === undefined ? undefined : faultOfGlobs(globs)
  if (fault !== undefined) context.addIssue(fault)
}

/** At the root of a machine or of a drive, or a share of Windows. */
const absoluteStart = /^(?:\/|[A-Za-z]:|\\\\)/

/** A path of a repository that starts at the machine's root would match nothing, or something else than was meant. */
function checkPaths(paths: readonly string[] | undefined, context: z.RefinementCtx): void {
  checkGlobs(paths, context)
  const absolute = paths?.find((path) => absoluteStart.test(path))
  if (absolute === undefined) return
  context.addIssue(`${JSON.stringify(absolute.slice(0, 100))} is absolute: name paths from the repository's root`)
}

function checkLanguages(names: readonly string[] | undefined, context: z.RefinementCtx): void {
  const unknown = names?.find((name) => !languages.includes(name))
  if (unknown === undefined) return
  context.addIssue(`unknown language ${JSON.stringify(unknown.slice(0, 100))}; known: ${languages.join(', ')}`)
}

/** Names, paths and labels reach logs and other programs. The text of a label may have lines and tabs. */
function checkTexts(body: object, context: z.RefinementCtx): void {
  for (const { path, text } of textsOf(body)) {
    const shown = path[0] === 'labels' && path.length === 2 ? text.replaceAll(/[\n\t]/g, ' ') : text
    const [found] = anyControl.exec(shown) ?? []
    if (found === undefined) continue
    context.addIssue({ code: 'custom', path, message: `has the control character ${escapedCharacter(found)}` })
  }
}

/** Every string with its path, and every name of a field with the path of its record. */
function* textsOf(value: unknown, path: (string | number)[] = []): Generator<{ path: typeof path; text: string }> {
  if (typeof value === 'string') yield { path, text: value }
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* textsOf(item, [...path, at])
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value)) {
      yield { path, text: name }
      yield* textsOf(item, [...path, name])
    }
}

/** The `request` of a submission. An unknown field is refused, since ignoring it would mislead. */
export const RequestBody = z
  .strictObject({
    agents: z.array(z.string().min(1).max(64), 'name at least one agent').min(1, 'name at least one agent').max(32),
    paths: fields.paths.superRefine(checkPaths),
    exclude: fields.exclude
      .superRefine(checkPaths)
      .openapi({ description: 'files and folders to leave out, in addition to those of the settings' }),
    languages: fields.languages.superRefine(checkLanguages),
    node_kinds: fields.nodeKinds,
    nodes: z
      .array(NodeId)
      .max(maxSelectedNodes)
      .optional()
      .openapi({ description: 'only these nodes are worked on; none: the run has nothing to do' }),
    not_sent: z.array(named('NotSentFile', NotSentFile)).min(1).max(maxNotSentFiles).optional().openapi({
      description:
        "files of the caller's folder that are not in the archive, and why: `skipped_files` of the run lists them, unless the archive has them",
    }),
    include: z
      .array(SkipKindShape)
      .max(skipKinds.length)
      .optional()
      .openapi({ description: 'kinds of files that are worked on although they are skipped by default' }),
    error_policy: ErrorPolicyShape.default(fields.errorPolicy.parse(undefined)),
    limits: RunLimits.default(fields.limits.parse(undefined)),
    budget: RunBudget.optional(),
    priority: fields.priority,
    accept: AcceptPolicyShape.default('none'),
    verify: GateShape.optional(),
    setup: SetupShape.optional(),
    dry_run: fields.dryRun,
    labels: Labels.default(fields.labels.parse(undefined)),
  })
  .superRefine(checkTexts)
  .openapi('RunRequest')

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
  const parsed = RequestBody.safeParse(body)
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
