import type { BundleFile } from '#domain/agent-bundle.ts'
import { AppError, ModelUnavailable } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { movedRange } from '#domain/rebase-edits.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { UnfinishedAttempt } from '#store/objects/attempt-record.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getUnfinishedAttempt } from '#store/objects/stored-records.ts'
import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import type { AgentRun } from '../agent/run-agent.ts'
import { firstMessages, openTranscript } from '../agent/open-transcript.ts'
import type { FixDeps } from '../tools/lint/fix-set.ts'
import { openTargetNode } from '../tools/target-node.ts'
import type { BaseLayer } from '../workspace/base-layer.ts'
import type { ChangedFile } from '../workspace/built-layer.ts'
import { movedNode } from '../workspace/moved-node.ts'
import { openWorkspace, type Workspace } from '../workspace/open-workspace.ts'
import { fixBeforeAgent } from '../mechanical-work.ts'
import type { ModelSettings } from '../agent/agent-settings.ts'
import { promptsFor } from '../start/prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import type { ReadStartContext } from '../start/start-context.ts'
import type { OpenStartLayer } from '../start/start-layer.ts'
import type { ReadRunFacts } from '../start/run-facts.ts'
import { agentParts, type ReadRunRules, type RunRules } from '../evidence/run-rules.ts'

export type PrepareDeps = FixDeps & {
  bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
  baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
  startLayer: OpenStartLayer
  objects: ObjectStore
  startContext: ReadStartContext
  runFacts: ReadRunFacts
  runRules: ReadRunRules
  model: Pick<AgentRun['model'], 'contextTokens'>
  /** `asked` is the bundle's model. AGENT_002 when no model server reports which model it has. */
  modelSettings(asked: BundleFile['model'], signal: AbortSignal): Promise<ModelSettings>
}

export type PreparedAttempt = Omit<
  RunningAttempt,
  'startedAt' | 'waitedMs' | 'stopTool' | 'journal' | 'prove' | 'tests' | 'checkpoint'
>

/** Opens a new workspace and transcript, or those of the attempt that this one continues, over the snapshot and what it waited for. */
export async function prepareAttempt(
  claimed: Attempt,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<PreparedAttempt> {
  const { projectId, resumes } = claimed
  const bundle = await deps.bundles(projectId, claimed.bundleHash)
  const earlier = resumes === null ? undefined : await getUnfinishedAttempt(deps.objects, projectId, resumes.recordHash)
  const { base, attempt, rules, ...start } = await openStart(claimed, earlier, deps)
  const workspace = openWorkspace(base, earlier)
  const own = { rules: await rules.of(attempt.node.path), parts: agentParts(rules, attempt) }
  const target = await openTargetNode(attempt.node, workspace, own)
  const prepared = { attempt, ...start, bundle, workspace, target, rules, spentMs: 0, from: undefined, turnsBefore: 0 }
  if (resumes !== null && earlier !== undefined) {
    const { spentMs, fixedFirst, replies } = earlier
    const transcript = openTranscript(earlier)
    return {
      ...prepared,
      transcript,
      spentMs,
      fixedFirst,
      from: startOf(earlier, resumes),
      turnsBefore: replies.length,
    }
  }
  if (attempt.work === 'mechanical' || start.isGone)
    return { ...prepared, transcript: openTranscript({ messages: [] }), fixedFirst: 0 }
  const fixedFirst = await fixBeforeAgent(prepared, deps, signal)
  const context = await deps.startContext(attempt, bundle.bundle.file, asInSnapshot(workspace, start.built))
  const modelTokens = await contextOfModel(bundle, deps, signal)
  const prompts = await promptsFor({ bundle, target, context, modelTokens }, deps)
  const transcript = openTranscript({ messages: firstMessages(prompts.system, prompts.node) })
  return { ...prepared, transcript, fixedFirst }
}

type Start = Pick<PreparedAttempt, 'attempt' | 'rules' | 'built' | 'isGone'> & { base: BaseLayer }

/** Finds where an attempt starts, and its node and ranges there. A node that is gone is shown as it was. */
async function openStart(attempt: Attempt, earlier: UnfinishedAttempt | undefined, deps: PrepareDeps): Promise<Start> {
  const { projectId, snapshotId, node } = attempt
  const snapshot = await deps.baseLayer(projectId, snapshotId)
  const { rulesKey } = await deps.runFacts(attempt)
  const rules = await deps.runRules({ ...attempt, rulesKey })
  const layer = await deps.startLayer(attempt, snapshot, earlier && (earlier.startedFrom ?? []))
  const alone = { base: snapshot, attempt, rules, built: undefined }
  if (layer === undefined) return { ...alone, isGone: false }
  const moved = movedNode(node, layer, deps.python)
  if (moved === undefined) return { ...alone, isGone: true }
  const movedRules = {
    ...rules,
    agentRanges: (path: string) => movedAgentRanges(rules.agentRanges(path), layer.changed(path)),
  }
  return { base: layer, attempt: { ...attempt, node: moved }, rules: movedRules, built: { layer, node }, isGone: false }
}

function movedAgentRanges(ranges: ReturnType<RunRules['agentRanges']>, file: ChangedFile | undefined): typeof ranges {
  if (file === undefined) return ranges
  return ranges.map(({ startByte, endByte, ...range }) => {
    const { start, end } = movedRange({ start: startByte, end: endByte }, file.edits)
    return { ...range, startByte: start, endByte: end }
  })
}

/** Nodes of the run have the lines of the snapshot, so their code is read there. */
function asInSnapshot(workspace: Workspace, built: PreparedAttempt['built']): Pick<Workspace, 'readText'> {
  return {
    async readText(path) {
      const before = built?.layer.changed(path)?.before
      return before === undefined ? workspace.readText(path) : Buffer.from(before).toString()
    },
  }
}

function startOf(earlier: UnfinishedAttempt, { answer }: NonNullable<Attempt['resumes']>): RunningAttempt['from'] {
  if (!('waiting' in earlier)) return { loop: earlier.loop }
  const { loop, waiting, question } = earlier
  if (question === null && waiting !== null) return { loop, answered: { waiting, answer: null } }
  if (typeof answer === 'string' && waiting !== null) return { loop, answered: { waiting, answer } }
  if (typeof answer === 'object' && answer !== null && waiting === null) return { loop, answered: { waiting, answer } }
  throw new AppError('STORE_003', 'the record to resume from waits for an answer that is not there')
}

/** Returns undefined where no server reports it, or none soon; the first request then shows it. */
async function contextOfModel(
  { bundle: { file } }: PreparedBundle,
  { model, modelSettings }: PrepareDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await model.contextTokens?.((await modelSettings(file.model, signal)).model, signal)
  } catch (error) {
    if (error instanceof ModelUnavailable) throw error
    return undefined
  }
}
