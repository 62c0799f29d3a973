import { AppError } from '#domain/error.ts'
import { stateByFault } from '#store/objects/store-fault.ts'
import { objectStoreName, openStoreUser, type StoreLog } from '#platform/log.ts'
import type { PartState } from '#platform/readiness.ts'
import type { NoteStoreWait } from '#stages/operate/attempt/store-patience.ts'

export type StoreGate = {
  waits: NoteStoreWait
  /** Must be called about once a second. */
  look(): Promise<PartState>
}

/** A shorter failure is ignored: to stop taking operations would cost more. */
const toleratedMs = 2_500

/**
 * Knows the state of the object store from the attempts that wait for it and from `check`; it works when neither says otherwise,
 * since a store that has room for the check only is still full. Each `look` logs the start and the end of an outage.
 */
export function openStoreGate(check: () => Promise<PartState>, log: StoreLog): StoreGate {
  const waiting = new Map<object, { since: number; error: unknown }>()
  const stores = openStoreUser(log)
  let failsSince: number | undefined

  async function stateNow(): Promise<PartState> {
    const checked = await check()
    const now = performance.now()
    failsSince = checked.state === 'ok' ? undefined : (failsSince ?? now)
    const longest = waiting.values().find(({ since }) => now - since >= toleratedMs)
    if (longest !== undefined) return stateByFault(longest.error)
    return failsSince === undefined || now - failsSince < toleratedMs ? { ...checked, state: 'ok' } : checked
  }

  return {
    waits(error) {
      const attempt = {}
      waiting.set(attempt, { since: performance.now(), error })
      return () => void waiting.delete(attempt)
    },
    async look() {
      const state = await stateNow()
      if (state.state === 'ok') stores.worked()
      else stores.lacks(objectStoreName, new AppError('STORE_002', `${objectStoreName}: ${state.message}`))
      return state
    },
  }
}
