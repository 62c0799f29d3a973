import { z } from 'zod'
import { NodeId } from '#domain/id-schemas.ts'
import { isRecord } from '#domain/json.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { maxNotSentFiles, maxSelectedNodes, NotSentFile, RunRequest, skipKinds } from '#domain/run.ts'
import { faultOfText } from '#domain/terminal-controls.ts'
import { GateShape } from './gate-schema.ts'
import { AcceptPolicyShape, ErrorPolicyShape, Labels, RunBudget, RunLimits, SkipKindShape } from './run-schema.ts'
import { SetupShape } from './setup-schema.ts'

const fields = RunRequest.shape

function checkGlobs(globs: readonly string[] | undefined, context: z.RefinementCtx): void {
  const fault = globs === undefined ? undefined : faultOfGlobs(globs)
  if (fault !== undefined) context.addIssue(fault)
}

/** Matches the start of a path at the root of a machine or of a drive, or of a share of Windows. */
const absoluteStart = /^(?:\/|[A-Za-z]:|\\\\)/

/** A path of a repository that starts at the machine's root would match nothing, or something else than was meant. */
function checkPaths(paths: readonly string[] | undefined, context: z.RefinementCtx): void {
  checkGlobs(paths, context)
  const absolute = paths?.find((path) => absoluteStart.test(path))
  if (absolute === undefined) return
  context.addIssue(`${JSON.stringify(absolute.slice(0, 100))} is absolute: name paths from the repository's root`)
}

/** Names, paths and labels reach logs and other programs. An objective and the text of a label may have lines and tabs. */
function checkTexts(body: object, context: z.RefinementCtx): void {
  for (const { path, text } of textsOf(body)) {
    const hasLines = (path[0] === 'labels' && path.length === 2) || path[0] === 'objective'
    const message = faultOfText(text, hasLines ? 'lines and tabs' : 'none')
    if (message !== undefined) context.addIssue({ code: 'custom', path, message })
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

type Purpose = Pick<RunRequest, 'agents' | 'objective' | 'approval'>

/** A run without agents is planned by the conductor, which needs an objective for that. */
function checkPurpose({ agents, objective, approval }: Purpose, context: z.RefinementCtx): void {
  if (objective === undefined && agents.length === 0)
    context.addIssue({ code: 'custom', path: ['agents'], message: 'name at least one agent, or give an objective' })
  if (objective === undefined && approval !== undefined)
    context.addIssue({
      code: 'custom',
      path: ['approval'],
      message: 'only a run with an objective has a plan to approve',
    })
}

/** The `request` of a submission. An unknown field is refused, since ignoring it would mislead. */
export const RunRequestBody = z
  .strictObject({
    agents: z.array(z.string().min(1).max(64), 'name at least one agent').max(32).default([]).meta({
      description: 'exactly these run on every node that they take; with an `objective`, the plan is made of these',
    }),
    objective: fields.objective.meta({
      description:
        'what the run is to reach, in words: a model plans which agents do what where. No word of it chooses an agent by itself',
    }),
    approval: fields.approval.meta({
      description: '`plan`: of a run with an objective; nothing of its plan is done before a person approves it',
    }),
    paths: fields.paths.superRefine(checkPaths),
    exclude: fields.exclude
      .superRefine(checkPaths)
      .meta({ description: 'files and folders to leave out, in addition to those of the settings' }),
    languages: fields.languages,
    node_kinds: fields.nodeKinds,
    nodes: z
      .array(NodeId)
      .max(maxSelectedNodes)
      .optional()
      .meta({ description: 'only these nodes are worked on; none: the run has nothing to do' }),
    not_sent: z
      .array(NotSentFile.meta({ id: 'NotSentFile' }))
      .min(1)
      .max(maxNotSentFiles)
      .optional()
      .meta({
        description:
          "files of the caller's folder that are not in the archive, and why: `skipped_files` of the run lists them, unless the archive has them",
      }),
    include: z
      .array(SkipKindShape)
      .max(skipKinds.length)
      .optional()
      .meta({ description: 'kinds of files that are worked on although they are skipped by default' }),
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
  .superRefine(checkPurpose)
  .superRefine(checkTexts)
  .meta({ id: 'RunRequest' })
export type RunRequestBody = z.input<typeof RunRequestBody>

/** Matches what git allows as a name of a commit, a branch or a tag, without the forms that only a clone understands. */
const ref = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{))[^\s~^:?*[\\\p{C}]+(?<![/.])$/u

export const NamedRepository = z
  .strictObject({
    url: z.string().max(512).meta({ description: '`OWNER/NAME`, or its address at GitHub' }),
    ref: z
      .string()
      .max(255)
      .refine((name) => ref.test(name), 'not a name that git allows')
      .default('HEAD')
      .meta({ description: 'a branch, a tag or a commit; without it, the default branch' }),
  })
  .meta({ id: 'NamedRepository' })

const { not_sent: _ofArchives, ...requestShape } = RunRequestBody.shape
/** The body as the OpenAPI document shows it. */
export const RepositoryRunBody = z
  .strictObject({ ...requestShape, repository: NamedRepository })
  .meta({ id: 'RepositoryRunRequest' })
