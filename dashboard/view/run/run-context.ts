import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { Event } from '#client/wire.ts'
import type { OperationList } from '../../core/operation-list.ts'
import { openRefresh } from '../../core/refresh.ts'
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

const hearEveryMs = 1_000

/** Calls `hear` when the run has an event that is wanted, at most once a second. */
export function useHeard(isWanted: (event: Event) => boolean, hear: () => void): void {
  const { feed } = useRun()
  useEffect(() => {
    const leaving = new AbortController()
    const wake = openRefresh(async () => hear(), hearEveryMs, leaving.signal)
    const stop = feed.onEvents((events) => events.some(isWanted) && wake())
    return () => {
      stop()
      leaving.abort()
    }
  }, [feed, hear])
}
