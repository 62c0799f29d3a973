import type { RunId } from '#domain/ids.ts'
import type { Ledger } from './ledger.ts'

/** What the ledger knows of the retries of a run. `seen`: what some process read of them last. */
export type ModelRetries = { noted: RunId[]; claim?: RunId; seen: readonly RunId[] }

type OfRun = { model: { retries: ModelRetries }; runId: RunId }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

function note({ noted }: ModelRetries, retry: RunId): void {
  if (!noted.includes(retry)) noted.push(retry)
}

/** `changed` when there is another retry than those seen. */
function claim(retries: ModelRetries, retry: RunId, seen: readonly RunId[]): string {
  if (retries.claim !== undefined) return retries.claim
  if (seen.join() !== retries.noted.join()) return 'changed'
  retries.claim = retry
  note(retries, retry)
  return retry
}

const idOf = (pick: number): RunId => `r0retry000${pick % 5}`

export const retryActs = {
  /** By a process that has just read the run, or that read it some time ago. */
  claimRetry({ model: { retries }, runId }: OfRun, pick: number): Prepared {
    if (pick % 3 > 0) retries.seen = [...retries.noted]
    const { seen } = retries
    const retry = idOf(pick)
    return {
      expect: () => claim(retries, retry, seen),
      send: (ledger) => ledger.claimRetry(runId, { retry, seen }),
    }
  },
  /** Of one that was claimed, or of one that somebody has asked for. */
  noteRetry({ model: { retries }, runId }: OfRun, pick: number): Prepared {
    const how = pick % 2 === 0 ? 'made' : 'asked'
    const retry = how === 'made' ? (retries.claim ?? idOf(pick)) : idOf(pick)
    return {
      expect() {
        note(retries, retry)
        if (how === 'made' && retries.claim === retry) delete retries.claim
        return undefined
      },
      send: (ledger) => ledger.noteRetry(runId, { retry, how }),
    }
  },
}
