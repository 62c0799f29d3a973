import type { OperationCost } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { AttemptRecord, HandedBackAttempt, LoopState } from '#store/objects/attempt-record.ts'
import type { AgentRun } from '../agent/run-agent.ts'
import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import type { Transcript } from '../agent/open-transcript.ts'
import type { TargetNode } from '../tools/target-node.ts'
import type { RunRules } from '../evidence/run-rules.ts'
import type { TestProofs } from '../tools/tests/prove-tests.ts'
import type { Workspace } from '../workspace/open-workspace.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import type { BuiltStart } from '../ending/on-snapshot.ts'
import type { Proof } from '../ending/prove-changes.ts'

/** Holds what a prepared attempt has: `attempt.node` as it is at the start, `startedAt` in ms since the epoch. */
export type RunningAttempt = {
  attempt: Attempt
  startedAt: number
  /** Counts how long the attempts that this one continues have run. */
  spentMs: number
  /** Counts how long no server has worked on the requests of this one. */
  waitedMs(): number
  /** Ends what a tool of it has begun. */
  stopTool(): void
  bundle: PreparedBundle
  workspace: Workspace
  target: TargetNode
  rules: RunRules
  built: BuiltStart | undefined
  isGone: boolean
  transcript: Transcript
  journal: AttemptJournal
  prove(signal: AbortSignal): Promise<Proof>
  tests: TestProofs
  /** Counts the safe lint fixes that were made in the node before the agent began. */
  fixedFirst: number
  from: AgentRun['from']
  turnsBefore: number
  /** The loop at its last request, and how long the conversation was then. */
  checkpoint: { loop: LoopState; messages: number } | undefined
}

/** Sums up what the operation has cost so far, including the attempts that this one continues. */
export function costSoFar(running: TimedAttempt & Pick<RunningAttempt, 'transcript'>): OperationCost {
  const { turns, usage } = running.transcript
  return { turns, ...usage, durationMs: runningMs(running) }
}

type TimedAttempt = Pick<RunningAttempt, 'startedAt' | 'spentMs' | 'waitedMs'>

function runningMs({ startedAt, spentMs, waitedMs }: TimedAttempt): number {
  return spentMs + Math.max(0, Date.now() - startedAt - waitedMs())
}

/** The part of an attempt's record that does not depend on how it ends. Suspended attempts have it as well. */
export function attemptSoFar(
  { attempt, transcript, workspace, startedAt, built }: RunningAttempt,
  versions: Readonly<Record<string, string>>,
): Omit<AttemptRecord, 'changeSet' | 'outcome'> {
  return {
    v: 1,
    runId: attempt.runId,
    operationId: attempt.operationId,
    attempt: attempt.attempt,
    bundle: attempt.bundle,
    bundleHash: attempt.bundleHash,
    model: transcript.model,
    versions: { ...versions },
    startedAt,
    messages: [...transcript.messages],
    replies: [...transcript.replies],
    exchanges: [...transcript.exchanges],
    tools: [...transcript.toolRuns],
    reads: workspace.reads(),
    ...(built === undefined ? {} : { startedFrom: built.layer.sets.map(({ changeSetId }) => changeSetId) }),
  }
}

/** The part of the record of an attempt that another one can continue. */
export function unfinishedSoFar(
  running: RunningAttempt,
  versions: Readonly<Record<string, string>>,
): Omit<HandedBackAttempt, 'loop'> {
  const { transcript, workspace, fixedFirst } = running
  return {
    ...attemptSoFar(running, versions),
    spentMs: runningMs(running),
    usage: { ...transcript.usage },
    ...workspace.written(),
    fixedFirst,
  }
}
