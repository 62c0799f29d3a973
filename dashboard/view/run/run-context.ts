import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { OperationList } from '../../core/operation-list.ts'
import type { RunFeed } from '../../core/run-feed.ts'

export type RunContext = {
  runId: string
  feed: RunFeed
  /** Returns the operations of the run, which are read from the first call on. */
  operations: () => OperationList
}

export const RunContext = createContext<RunContext | undefined>(undefined)

/** Returns the run that the tabs are of, and the one stream that tells of it. */
export function useRun(): RunContext {
  const context = useContext(RunContext)
  if (context === undefined) throw new Error('useRun is called outside of the page of a run')
  return context
}
