import { pauseAfter } from '#code-hosts/code-host-busy.ts'
import type { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'

/** Doubled with each failure in a row, or as long as the host asks for. */
const firstMs = 2_000
const longestMs = 60_000
/** No limit of GitHub lasts so long. */
const patienceMs = 2 * 3_600_000
const maxRemembered = 10_000

type Failures = { since: number; inRow: number; until: number }

export type FetchPauses = ReturnType<typeof openFetchPauses>

/** Remembers, in each process, which runs wait after a fault that may pass: the stage's job comes too often for a host that is away. */
export function openFetchPauses({ now = () => performance.now() }: { now?: () => number } = {}) {
  const failed = new Map<RunId, Failures>()
  return {
    isPaused: (runId: RunId) => (failed.get(runId)?.until ?? 0) > now(),
    /** `give_up`: it has failed for so long that it is not to be tried again. */
    note(runId: RunId, error: AppError): 'again' | 'give_up' {
      const at = now()
      const { since, inRow } = failed.get(runId) ?? { since: at, inRow: 0 }
      failed.delete(runId)
      if (at - since >= patienceMs) return 'give_up'
      const pauseMs = pauseAfter(error, Math.min(firstMs * 2 ** inRow, longestMs))
      if (failed.size >= maxRemembered) failed.clear()
      failed.set(runId, { since, inRow: inRow + 1, until: at + pauseMs })
      return 'again'
    },
    forget(runId: RunId): void {
      failed.delete(runId)
    },
  }
}
