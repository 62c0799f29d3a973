import type { BundleFile } from '#domain/agent-bundle.ts'
import { AppError, ModelUnavailable } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { UnfinishedAttempt } from '#objects/attempt-record.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getUnfinishedAttempt } from '#objects/stored-records.ts'
import type { PreparedBundle } from '../../agent/prepared-bundle.ts'
import type { AgentRun } from '../../agent/run-agent.ts'
import { firstMessages, openTranscript } from '../../agent/open-transcript.ts'
import type { FixDeps } from '../../tools/lint/fix-set.ts'
import { openTargetNode } from '../../tools/target-node.ts'
import type { BaseLayer } from '../../workspace/base-layer.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { fixBeforeAgent } from '../mechanical-work.ts'
import type { ModelSettings } from '../../agent/agent-settings.ts'
import { promptsFor } from '../start/prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import type { ReadStartContext } from '../start/start-context.ts'
import type { RunFacts } from '../start/run-facts.ts'
import { agentParts, type ReadRunRules } from '../../evidence/run-rules.ts'

export type PrepareDeps = FixDeps & {
  bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
  baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
  objects: ObjectStore
  startContext: ReadStartContext
  runFacts(runId: string): Promise<RunFacts>
  runRules: ReadRunRules
  model: Pick<AgentRun['model'], 'contextTokens'>
  /** `asked` is the bundle's model. AGENT_002 when no model server reports which model it has. */
  modelSettings(asked: BundleFile['model'], signal: AbortSignal): Promise<ModelSettings>
}

export type PreparedAttempt = Omit<
  RunningAttempt,
  'attempt' | 'startedAt' | 'waitedMs' | 'journal' | 'prove' | 'checkpoint'
>

/** Opens a new workspace and transcript, or those of the attempt that this one continues. */
export async function prepareAttempt(
  attempt: Attempt,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<PreparedAttempt> {
  const { projectId, resumes } = attempt
  const bundle = await deps.bundles(projectId, attempt.bundleHash)
  const base = await deps.baseLayer(projectId, attempt.snapshotId)
  const { rulesKey } = await deps.runFacts(attempt.runId)
  const rules = await deps.runRules({ ...attempt, rulesKey })
  const earlier = resumes === null ? undefined : await getUnfinishedAttempt(deps.objects, projectId, resumes.recordHash)
  const workspace = openWorkspace(base, earlier)
  const own = { rules: rules.of(attempt.node.path), parts: agentParts(rules, attempt) }
  const target = await openTargetNode(attempt.node, workspace, own)
  const prepared = { bundle, workspace, target, rules, spentMs: 0, from: undefined, turnsBefore: 0 }
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
  if (attempt.work === 'mechanical') return { ...prepared, transcript: openTranscript({ messages: [] }), fixedFirst: 0 }
  const fixedFirst = await fixBeforeAgent({ attempt, ...prepared }, deps, signal)
  const context = await deps.startContext(attempt, bundle.bundle.file, workspace)
  const modelTokens = await contextOfModel(bundle, deps, signal)
  const prompts = await promptsFor({ bundle, target, context, modelTokens }, deps)
  const transcript = openTranscript({ messages: firstMessages(prompts.system, prompts.node) })
  return { ...prepared, transcript, fixedFirst }
}

function startOf(earlier: UnfinishedAttempt, { answer }: NonNullable<Attempt['resumes']>): RunningAttempt['from'] {
  if (!('waiting' in earlier)) return { loop: earlier.loop }
  if (answer === null)
    throw new AppError('STORE_003', 'the record to resume from waits for an answer that is not there')
  return { loop: earlier.loop, answered: { waiting: earlier.waiting, answer } }
}

/** Undefined where no server reports it, or none soon; the first request then shows it. */
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
