import type { Submission } from './submit-source.ts'

/** What is followed: a folder's new run, a run that is there, or one that tries another again. */
export type RunSource =
  | { kind: 'folder'; submission: Submission }
  | { kind: 'resume'; runId: string }
  | { kind: 'retry'; runId: string; operations: readonly string[]; errorPolicy?: string }

export type RunOrder = {
  source: RunSource
  /** What is worked on, and where the patch is applied. */
  path: string
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string
  apply: boolean
  events?: string
  workers: number
  model?: string | undefined
  json: boolean
  /** Agents of this installation; a running service may have others. */
  known: readonly string[]
}
