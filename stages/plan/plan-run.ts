import type { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { type OperationId, operationId, type RunId, sha256 } from '#domain/ids.ts'
import type { OperationWork, PlannedOperation } from '#domain/operation.ts'
import { isGo } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { Fleet } from '#store/ledger/fleet.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { maxSliceOperations, type PlanSlice } from '#store/ledger/plan.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type PlanSummary, putPlanSummary } from '#store/objects/plan-summary.ts'
import { putRepositoryRules } from '#store/objects/repository-rules.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { selectedNodes } from '#store/objects/node-selection.ts'
import { gateNotice } from './lacking-programs.ts'
import { asRecords, lostWork, workAgain } from './next-generation.ts'
import { findWork, type PlannedWork, surveyRules, takes } from './node-work.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { type PlanChoices, planOperations } from './plan-operations.ts'
import { type LookedAt, planUpTo } from './plan-up-to.ts'
import { requireFitting } from './require-fitting.ts'
import { commonest, summarisePlan } from './summarise-plan.ts'
import { isOtherLinted } from './survey/survey-other-languages.ts'
import { type SurveyDeps, type SurveyInput, type SurveyMore, surveyRepository } from './survey/survey-repository.ts'

export type PlanRunDeps = SurveyDeps & {
  ledger: Pick<Ledger, 'listOperations' | 'move' | 'noteItem' | 'plan' | 'readAgenda'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get'>
  /** The live workers; what they have decides what can be planned. */
  fleet(): Promise<Pick<Fleet, 'programs'>>
  /** Says which setups runs may have here (settings/setup-settings.ts). */
  setups: 'off' | 'asked' | 'on'
}

export type FoundCode = {
  nodes: readonly CodeNode[]
  skipped: readonly SkippedFile[]
  /** Holds what discovery has found in the Python files that it looked into; the survey parses the others. */
  facts: SurveyInput['facts']
  snapshot: SnapshotView
  bundles: readonly PinnedBundle[]
  /** The contents (store/objects/node-selection.ts) of the nodes that it is compared with; absent: all nodes are planned. */
  base: ReadonlySet<string> | undefined
}

const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Surveys the repository if the run's bundles need that to find their work, plans an operation wherever there is work, stores what workers and users need to
 * know about it, and passes the plan to the ledger. A run without work continues to its (empty) patch. INTAKE_007 when no node is of the kinds and
 * languages of its bundles, or nothing of what a retry asks for can be planned.
 */
export async function planRun(run: Run, found: FoundCode, deps: PlanRunDeps, signal: AbortSignal): Promise<void> {
  const { bundles, base } = found
  requireFitting(found.nodes, bundles, run.request, found.snapshot.files)
  const environment = environmentOf(run, bundles, deps)
  const { known, again, ...choices } = await workAgain(run, deps.ledger)
  const how = { environment, choices: { ...choices, limit: run.request.limits.operations } }
  const { planned, work, summary, programs } = await findPlan(run, found, how, deps, signal)
  const lost = lostWork(again, planned, run) ?? []
  const notices = [...lostBase(run, base), ...summary.notices].concat(
    gateNotice(run.request.verify, programs) ?? [],
    lost,
  )
  const told = { ...summary, notices }
  const keys = {
    planKey: await putPlanSummary(deps.objects, run, told),
    ...(work.rules && { rulesKey: await putRepositoryRules(deps.objects, run, work.rules) }),
  }
  const operations = run.request.dryRun ? [] : asRecords(planned.operations, known, run)
  await handOver(run, { operations, keys, summary: told, environment }, deps)
}

/**
 * Lets a conductor decide what is planned of the run (plan-item.ts), once the environment of its programs is there. INTAKE_007 when no node
 * is of the kinds and languages of any of its bundles.
 */
export async function beginConducted(
  run: Run,
  { nodes, bundles, snapshot }: FoundCode,
  deps: Pick<PlanRunDeps, 'ledger' | 'setups'>,
): Promise<void> {
  requireFitting(nodes, bundles, run.request, snapshot.files)
  const environment = environmentOf(run, bundles, deps)
  const isKept = environment !== undefined && !run.request.dryRun
  const waits = isKept && environment.kind === 'wanted'
  await deps.ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: waits ? {} : { phase: 'execution' },
    generation: run.generation,
    command: 'plan',
    set: {
      conductor: 'open',
      planned: '1',
      ...(isKept && { environment: JSON.stringify(environment) }),
    },
    events: [],
  })
}

type PlanHow = { environment: RunEnvironment | undefined; choices: PlanChoices; may?: WorkFilter | undefined }

/** Says why an operation on the node is not to be planned, although there is work; undefined for one that may be. */
type WorkFilter = (id: OperationId) => string | undefined

/** Surveys the repository where the bundles need that, and finds the operations wherever there is work. */
export async function findPlan(
  run: Run,
  found: FoundCode,
  { environment, choices, may }: PlanHow,
  deps: PlanRunDeps,
  signal: AbortSignal,
) {
  const { bundles, base, skipped, snapshot, facts } = found
  const { files } = snapshot
  const { asked, nodes, unchanged } = await selectedNodes(run, found.nodes, { blobs: deps.blobs, base })
  // A fault in a node that has not changed is that node's, which is not planned, and not one of a node around it.
  const has = (path: string) => snapshot.find(path) !== undefined
  const programs = { ...(await deps.fleet()), environment, has }
  const read = (hash: string) => deps.blobs.get(run.projectId, hash)
  const surveyMore = await surveyFor({ nodes, bundles, files, read, facts }, deps, signal)
  const repository = { nodes, files: async () => files, read, surveys: deps.surveys, signal }
  const planOf = async (part: LookedAt) => {
    const survey = await surveyMore?.(part.paths)
    const surveys = { survey, repository, programs, labels: run.request.labels }
    const work = await findWork(asked.filter(part.has), bundles, surveys)
    const ofPart = nodes.filter(part.has)
    const planned = planOperations(ofPart, bundles, { work: may === undefined ? work : only(work, may), ...choices })
    const notices = [...(survey?.notices ?? []), ...work.notices, ...part.notices]
    return { nodes: ofPart, work, planned, unseen: part.unseen, notices }
  }
  const { planned, work, unseen, notices, ...looked } = await planUpTo(choices.limit, nodes, planOf)
  const left = base && { unchanged }
  const summary = summarisePlan({ nodes: looked.nodes, ...left, bundles, planned, skipped, notices })
  return { planned, work, unseen, summary, programs }
}

function only(work: PlannedWork, may: WorkFilter): Pick<PlannedWork, 'of'> {
  return {
    of(pinned) {
      const find = work.of(pinned)
      return (node) => {
        const found = find(node)
        const idOf = (kind: OperationWork) => operationId(node.nodeId, pinned.bundle.file.name, kind)
        const works = found.works.filter((kind) => may(idOf(kind)) === undefined)
        if (works.length > 0 || found.works.length === 0) return { ...found, works }
        return { works, reason: found.works.map((kind) => may(idOf(kind))).find((reason) => reason !== undefined) }
      }
    },
  }
}

/** Says why all nodes are planned although the request asks for those that have changed. */
function lostBase({ request: { repository } }: Run, base: FoundCode['base']): string[] {
  const { runId, commit } = repository?.since ?? {}
  if (base !== undefined || (runId === undefined && commit === undefined)) return []
  const gone = [...(runId === undefined ? [] : [`run ${runId}`]), ...(commit === undefined ? [] : [`commit ${commit}`])]
  return [`${gone.join(' and ')} ${gone.length === 1 ? 'is' : 'are'} gone: all of the code counts as changed`]
}

/** Nothing of a fork is set up. That of a bundle counts only where setups are on; where they are off, that of the run, which intake has allowed before, has failed. */
function environmentOf(
  { request }: Run,
  bundles: readonly PinnedBundle[],
  { setups }: Pick<PlanRunDeps, 'setups'>,
): RunEnvironment | undefined {
  const ofBundle = bundles.find(({ bundle }) => bundle.file.setup !== undefined)?.bundle.file.setup
  const command = request.setup ?? (setups === 'on' ? ofBundle : undefined)
  if (command === undefined || request.repository?.isFork === true) return undefined
  if (setups !== 'off') return { kind: 'wanted', command }
  return { kind: 'failed', command, reason: 'setups are off by now (REMORA_SETUP)', output: '', durationMs: 0 }
}

type Surveyed = Pick<FoundCode, 'nodes' | 'bundles'> & Pick<SurveyInput, 'files' | 'read' | 'facts'>

/** Finds out of the repository what the run's bundles need to know where they have work; undefined where none needs that. */
async function surveyFor(
  { nodes, bundles, files, read, facts }: Surveyed,
  deps: SurveyDeps,
  signal: AbortSignal,
): Promise<SurveyMore | undefined> {
  const surveyed = nodes
    .filter(({ path, language }) => language === 'python' || isOtherLinted(path))
    .filter((node) => bundles.some(({ bundle }) => takes(bundle, node) && needsSurvey(bundle, node)))
  if (surveyed.length === 0) return undefined
  const workedOn = new Set(surveyed.map(({ path }) => path))
  const wantsTypes = bundles.some(({ bundle }) => surveysOf(bundle).includes('types'))
  const input = { files, read, facts, wantsTypes, isWorkedOn: (path: string) => workedOn.has(path) }
  const surveyMore = await surveyRepository(input, deps, signal)
  const linting = bundles.filter(({ bundle }) => surveysOf(bundle).includes('faults'))
  const lintedNodes = surveyed.filter((node) => linting.some(({ bundle }) => takes(bundle, node)))
  const linted = new Set(lintedNodes.map(({ path }) => path))
  return (paths) => surveyMore(new Set([...paths].filter((path) => linted.has(path))))
}

/** A survey finds nothing of Go but its format, which only matters to who mends it. */
function needsSurvey(bundle: PinnedBundle['bundle'], { path }: CodeNode): boolean {
  return !isGo(path) || surveysOf(bundle).includes('format')
}

function surveysOf({ file }: PinnedBundle['bundle']) {
  return surveyRules[file.when].surveys ?? []
}

type Plan = {
  operations: readonly PlannedOperation[]
  keys: { planKey: string; rulesKey?: string }
  summary: PlanSummary
  environment: RunEnvironment | undefined
}

/** A run with a setup stays in this phase until that has ended (services/setup). */
async function handOver(
  run: Run,
  { operations, keys, summary, environment }: Plan,
  { ledger }: PlanRunDeps,
): Promise<void> {
  const { generation } = run
  if ((await planSlices(run.runId, { operations, generation }, ledger)) === 'refused') return // it was stopped, or has ended
  const data = {
    operations: operations.length,
    ...(generation > 1 && { generation }),
    ...(run.request.dryRun && { dry_run: true as const }),
    ...planView(summary),
  }
  const isEmpty = operations.length === 0
  const waits = !isEmpty && environment?.kind === 'wanted'
  await ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: waits ? {} : { phase: isEmpty ? 'review' : 'execution' },
    generation,
    command: 'plan',
    set: { ...keys, ...(environment && !isEmpty && { environment: JSON.stringify(environment) }) },
    events: [{ event: 'run.planned', phase: 'planning', origin, data }],
  })
}

type WholePlan = Pick<PlanSlice, 'generation' | 'item' | 'operations'>

/** Passes operations to the ledger in slices, which belong to one plan. */
export async function planSlices(
  runId: RunId,
  { operations, ...plan }: WholePlan,
  ledger: Pick<Ledger, 'plan'>,
): Promise<'planned' | 'refused'> {
  const planHash = sha256(operations.map(planLine).join('\n'))
  const slices = Math.max(1, Math.ceil(operations.length / maxSliceOperations))
  for (let slice = 0; slice < slices; slice++) {
    const part = operations.slice(slice * maxSliceOperations, (slice + 1) * maxSliceOperations)
    const planned = { ...plan, slice, operations: part, last: slice === slices - 1, planHash }
    if ((await ledger.plan(runId, planned)) === 'refused') return 'refused'
  }
  return 'planned'
}

/** The most reasons and notices in one event; the stored plan has all. */
export const namedInEvent = 20

function planView({ agents, nodesLookedAt, beyondLimit, unchanged, notices }: PlanSummary) {
  const views = Object.entries(agents).map(([name, { lookedAt, planned, mechanical, skipped: all }]) => {
    const skipped = commonest(all, namedInEvent).map(({ reason, count }) => ({ reason, count }))
    return [name, { looked_at: lookedAt, planned, mechanical, skipped }] as const
  })
  return {
    nodes_looked_at: nodesLookedAt,
    beyond_limit: beyondLimit,
    ...(unchanged !== undefined && { unchanged }),
    looked_at: Object.values(agents).reduce((sum, { lookedAt }) => sum + lookedAt, 0),
    agents: Object.fromEntries(views),
    notices: notices.slice(0, namedInEvent),
  }
}

function planLine({ operationId: id, bundleHash, priority, after }: PlannedOperation): string {
  return [id, bundleHash, priority, ...after].join(' ')
}
