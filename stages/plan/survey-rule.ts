import type { BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { NodeId } from '#domain/ids.ts'
import type { OperationWork } from '#domain/operation.ts'
import type { TextStyle } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import type { SurveyPool } from './survey/survey-pool.ts'
import type { Survey } from './survey/survey-repository.ts'
import type { ProgramFacts } from './lacking-programs.ts'

/** Says in `reason` why there is no work. */
export type NodeWork = { works: readonly OperationWork[]; reason?: string | undefined }
export type WorkFinder = (node: CodeNode) => NodeWork

/** Bytes of a file that an agent works on, and the node of its operation. */
export type AgentRange = { nodeId: NodeId; startByte: number; endByte: number }

/** The files of the snapshot, for rules that read more than the survey has. */
export type SurveyedRepository = {
  /** All nodes that the survey looked at, also those that are not planned. */
  nodes: readonly CodeNode[]
  files(): Promise<readonly SourceFile[]>
  read(hash: string): Promise<Uint8Array>
  surveys: Pick<SurveyPool, 'docsIn' | 'threads'>
  signal: AbortSignal
}

/** What was found out of the repository before planning. */
export type Surveys = {
  /** Absent where no bundle of the run needs it. */
  survey: Survey | undefined
  repository?: SurveyedRepository | undefined
  programs?: Omit<ProgramFacts, 'runnerOf'> | undefined
  labels: Run['request']['labels']
}

/** Says where a bundle has work, and what else of it is told to workers and users. */
export type FoundWork = {
  find: WorkFinder
  agentRanges?: ReadonlyMap<string, readonly AgentRange[]>
  notices?: readonly string[]
  /** The styles of files whose docstrings are comments. */
  styles?: ReadonlyMap<string, TextStyle> | undefined
  runnerOf?: ProgramFacts['runnerOf']
}

/** Finds where the bundles with one `when` have work; `agents/<name>/host/survey.ts` has it. */
export type SurveyRule = {
  /** Names what the repository's survey reads for this rule alone: what linters report of Python, and of Go; types. */
  surveys?: readonly ('faults' | 'format' | 'types')[]
  /**
   * Reads what only this rule needs to know of the nodes that its bundles take (`takes`), and returns what finds the work of each of
   * these bundles.
   */
  open(
    surveys: Surveys,
    takes: (node: CodeNode) => boolean,
  ): Promise<(file: BundleFile, taken: readonly CodeNode[]) => FoundWork>
}

export const always: WorkFinder = () => ({ works: ['agent'] })

/** There is work for an agent unless there is a reason against it. */
export function workUnless(reason: string | undefined): NodeWork {
  return reason === undefined ? { works: ['agent'] } : { works: [], reason }
}
