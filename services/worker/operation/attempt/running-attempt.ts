import type { OperationCost } from '#domain/operation.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { AgentRun } from '../../agent/run-agent.ts'
import type { PreparedBundle } from '../../agent/prepared-bundle.ts'
import type { Transcript } from '../../agent/transcript.ts'
import type { TargetNode } from '../../tools/target-node.ts'
import type { RunRules } from '../../evidence/run-rules.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import type { Proof } from '../proof/prove-changes.ts'

/** Everything an attempt has once it is set up. `startedAt` is milliseconds since the epoch. */
export type RunningAttempt = {
  attempt: Attempt
  startedAt: number
  /** How long the attempts that this one goes on from have run. */
  spentMs: number
  bundle: PreparedBundle
  workspace: Workspace
  target: TargetNode
  rules: RunRules
  transcript: Transcript
  journal: AttemptJournal
  /** What it has changed up to now, and what is proved about that. */
  prove(signal?: AbortSignal): Promise<Proof>
  /** Safe lint fixes that a program made in the node before the agent began. */
  fixedFirst: number
  /** Where the agent goes on when an earlier attempt stopped to ask. */
  from: AgentRun['from']
}

/** What the operation has cost up to now, with the attempts that this one goes on from. */
export function costSoFar(running: Pick<RunningAttempt, 'startedAt' | 'spentMs' | 'transcript'>): OperationCost {
  const { turns, usage } = running.transcript
  return { turns, ...usage, durationMs: runningMs(running) }
}

/** The time the operation has been worked on, without what it waited for a person. */
export function runningMs({ startedAt, spentMs }: Pick<RunningAttempt, 'startedAt' | 'spentMs'>): number {
  return spentMs + Date.now() - startedAt
}
