import type { BundleFile } from '#domain/agent-bundle.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getSuspendedAttempt } from '#objects/stored-records.ts'
import type { PreparedBundle } from '../../agent/prepared-bundle.ts'
import type { AgentRun } from '../../agent/run-agent.ts'
import { firstMessages, openTranscript } from '../../agent/transcript.ts'
import type { FixDeps } from '../../tools/lint/fix-set.ts'
import { openTargetNode } from '../../tools/target-node.ts'
import { openWorkspace, type BaseLayer } from '../../workspace/open-workspace.ts'
import { fixBeforeAgent } from '../mechanical/make-lint-fixes.ts'
import type { ModelSettings } from './attempt-settings.ts'
import { promptsFor } from '../start/prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import type { ReadStartContext } from '../start/start-context.ts'
import type { RunFacts } from '../start/run-facts.ts'
import { agentParts, type ReadRunRules, type RunRules } from '../../evidence/run-rules.ts'

export type PrepareDeps = FixDeps & {
  bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
  baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
  objects: ObjectStore
  startContext: ReadStartContext
  runFacts(runId: string): Promise<RunFacts>
  runRules: ReadRunRules
  model: Pick<AgentRun['model'], 'contextTokens'>
  /** `asked`: what the bundle says of its model. AGENT_002 when no model server says which model it has. */
  modelSettings(asked: BundleFile['model'], signal: AbortSignal): Promise<ModelSettings>
}

export type PreparedAttempt = Pick<
  RunningAttempt,
  'bundle' | 'workspace' | 'target' | 'rules' | 'transcript' | 'spentMs' | 'from' | 'fixedFirst'
>

/** A fresh workspace and transcript, or those of the attempt that asked, with the answer it was given. */
export async function prepareAttempt(
  attempt: Attempt,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<PreparedAttempt> {
  const bundle = await deps.bundles(attempt.projectId, attempt.bundleHash)
  const base = await deps.baseLayer(attempt.projectId, attempt.snapshotId)
  const { rulesKey } = await deps.runFacts(attempt.runId)
  const rules = await deps.runRules({ ...attempt, rulesKey })
  if (attempt.resumes !== null) return resumed(attempt, attempt.resumes, { bundle, base, rules }, deps)
  const workspace = openWorkspace(base)
  const { node } = attempt
  const own = { rules: rules.of(node.path), parts: agentParts(rules, attempt) }
  const target = await openTargetNode(node, workspace, own)
  const prepared = { bundle, workspace, target, rules, spentMs: 0, from: undefined }
  if (attempt.work === 'mechanical') return { ...prepared, transcript: openTranscript({ messages: [] }), fixedFirst: 0 }
  const fixedFirst = await fixBeforeAgent({ attempt, ...prepared }, deps, signal)
  const context = await deps.startContext(attempt, bundle.bundle.file, workspace)
  const modelTokens = await contextOfModel(bundle, deps, signal)
  const prompts = await promptsFor({ bundle, target, context, modelTokens }, deps)
  return {
    ...prepared,
    transcript: openTranscript({ messages: firstMessages(prompts.system, prompts.node) }),
    fixedFirst,
  }
}

/** Undefined where no server says it, or none answers: then the first request finds out. */
async function contextOfModel(
  { bundle: { file } }: PreparedBundle,
  { model, modelSettings }: PrepareDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await model.contextTokens?.((await modelSettings(file.model, signal)).model, signal)
  } catch {
    return undefined
  }
}

async function resumed(
  attempt: Attempt,
  { recordHash, answer }: NonNullable<Attempt['resumes']>,
  { bundle, base, rules }: { bundle: PreparedBundle; base: BaseLayer; rules: RunRules },
  { objects }: PrepareDeps,
): Promise<PreparedAttempt> {
  const { projectId, node } = attempt
  const suspended = await getSuspendedAttempt(objects, projectId, recordHash)
  const workspace = openWorkspace(base, suspended)
  const own = { rules: rules.of(node.path), parts: agentParts(rules, attempt) }
  const target = await openTargetNode(node, workspace, own)
  const from = { loop: suspended.loop, answered: { waiting: suspended.waiting, answer } }
  const { spentMs } = suspended
  return { bundle, workspace, target, rules, transcript: openTranscript(suspended), spentMs, from, fixedFirst: 0 }
}
