import type { ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getSuspendedAttempt } from '#objects/stored-records.ts'
import type { PreparedBundle } from '../../agent/prepared-bundle.ts'
import { firstMessages, openTranscript } from '../../agent/transcript.ts'
import { openTargetNode } from '../../tools/target-node.ts'
import { openWorkspace, type BaseLayer } from '../../workspace/open-workspace.ts'
import { promptsFor } from '../start/prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import type { ReadStartContext } from '../start/start-context.ts'

export type PrepareDeps = {
  bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
  baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
  objects: ObjectStore
  startContext: ReadStartContext
}

export type PreparedAttempt = Pick<
  RunningAttempt,
  'bundle' | 'workspace' | 'target' | 'transcript' | 'spentMs' | 'from'
>

/** A fresh workspace and transcript, or those of the attempt that asked, with the answer it was given. */
export async function prepareAttempt(attempt: Attempt, deps: PrepareDeps): Promise<PreparedAttempt> {
  const bundle = await deps.bundles(attempt.projectId, attempt.bundleHash)
  const base = await deps.baseLayer(attempt.projectId, attempt.snapshotId)
  if (attempt.resumes !== null) return resumed(attempt, attempt.resumes, { bundle, base }, deps)
  const workspace = openWorkspace(base)
  const target = await openTargetNode(attempt.node, workspace)
  const prompts = await promptsFor(bundle, target, await deps.startContext(attempt, bundle.bundle.file, workspace))
  const transcript = openTranscript({ messages: firstMessages(prompts.system, prompts.node) })
  return { bundle, workspace, target, transcript, spentMs: 0, from: undefined }
}

async function resumed(
  { projectId, node }: Attempt,
  { recordHash, answer }: NonNullable<Attempt['resumes']>,
  { bundle, base }: { bundle: PreparedBundle; base: BaseLayer },
  { objects }: PrepareDeps,
): Promise<PreparedAttempt> {
  const suspended = await getSuspendedAttempt(objects, projectId, recordHash)
  const workspace = openWorkspace(base, suspended)
  const target = await openTargetNode(node, workspace)
  const from = { loop: suspended.loop, answered: { waiting: suspended.waiting, answer } }
  return { bundle, workspace, target, transcript: openTranscript(suspended), spentMs: suspended.spentMs, from }
}
