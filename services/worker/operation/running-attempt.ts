import type { Attempt } from '#ledger/claim.ts'
import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import type { Transcript } from '../agent/transcript.ts'
import type { TargetNode } from '../tools/target-node.ts'
import type { Workspace } from '../workspace/open-workspace.ts'
import type { AttemptJournal } from './attempt-journal.ts'

/** Everything an attempt has once it is set up. `startedAt` is milliseconds since the epoch. */
export type RunningAttempt = {
  attempt: Attempt
  startedAt: number
  bundle: PreparedBundle
  workspace: Workspace
  target: TargetNode
  transcript: Transcript
  journal: AttemptJournal
}
