import { withinLimit } from '#platform/clock.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { ScriptSuspended } from '#tool-scripts/script-ending.ts'

/** Holds the calls of a worker's suspended attempts, which go on beside the attempts that have a slot. */
export type ToolsBeside = {
  /** Lets a call that takes long suspend its script and go on, while there is room; without room the script waits for it. */
  deferring(run: ExternalFunction): ExternalFunction
  /** Keeps `work` until it has ended. */
  keep(work: Promise<void>): void
  /** Is aborted when the worker stops. */
  closing: AbortSignal
  /** Has what still runs handed back. */
  close(): Promise<void>
}

/** Bounds how many go on at once; how many of their programs run is the sandbox's affair. */
const mostBeside = 16

export function openToolsBeside({ afterMs }: { afterMs: number }): ToolsBeside {
  const closing = new AbortController()
  const kept = new Set<Promise<void>>()
  let calls = 0
  const ended = () => void (calls -= 1)
  return {
    deferring: (run) => async (args) => {
      const answer = Promise.resolve(run(args))
      const isOver = Promise.allSettled([answer]).then(() => true)
      const inTime = await withinLimit(isOver, { limitMs: afterMs, signal: closing.signal, late: () => false })
      if (inTime || calls >= mostBeside) return answer
      calls += 1
      answer.then(ended, ended)
      throw new ScriptSuspended({ answer })
    },
    keep(work) {
      kept.add(work)
      work.finally(() => kept.delete(work)).catch(() => undefined)
    },
    closing: closing.signal,
    async close() {
      closing.abort()
      await Promise.allSettled(kept)
    },
  }
}
