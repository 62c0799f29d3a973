import { AppError } from '#domain/error.ts'
import { openInFlightGate } from '#platform/in-flight-gate.ts'

/**
 * Waits for a place, LIMIT_002 when none is free in time, INTAKE_001 for a client that has left; the answer gives it
 * back and may be called once only.
 */
export type UploadGate = (gone: AbortSignal) => Promise<() => void>

/** Under the minute after which proxies give up on an answer. */
const defaultWaitMs = 50_000

/**
 * Lets `atOnce` uploads through at a time, first come first served: each holds some parts of the archive in memory. Who
 * waits sends no more than the sockets hold. `gone`: its client has left.
 */
export function openUploadGate(atOnce: number, waitMs = defaultWaitMs): UploadGate {
  const gate = openInFlightGate(atOnce)
  const busy = `As many uploads as may be (${atOnce}) are under way: come again in some seconds.`
  return async (gone) => {
    const late = AbortSignal.timeout(waitMs)
    try {
      return await gate.enter(AbortSignal.any([gone, late]))
    } catch (error) {
      if (gone.aborted) throw new AppError('INTAKE_001', 'The upload broke off.', { cause: error })
      throw new AppError('LIMIT_002', busy, { cause: error, detail: busy })
    }
  }
}
