import { mayPass } from '#store/objects/store-fault.ts'
import { delay } from '#platform/clock.ts'
import type { BaseLayer } from '../workspace/base-layer.ts'

/** Is told when an attempt begins to wait for the object store; call the returned function when it goes on. */
export type NoteStoreWait = (error: unknown) => () => void

export type StorePatience = {
  /** Returns what `work` answers: it is done again, after a pause that grows, while the object store is away or full. */
  through<T>(work: () => Promise<T>): Promise<T>
  /** The layer, whose reads are patient; the attempt's time does not run meanwhile. */
  layer(base: BaseLayer): BaseLayer
  /** Stops this time during those reads, from now on. */
  runs(time: { pause(): void; goOn(): void }): void
}

type Patience = {
  /** One of these ends every wait: what is waited for then fails with the store's last answer. */
  ends: readonly AbortSignal[]
  firstPauseMs: number
  note?: NoteStoreWait | undefined
}

const longestPauseMs = 10_000

/** Makes an attempt wait, with all it has, while the object store is away or full: its next attempt would pay every turn anew. */
export function openStorePatience({ ends, firstPauseMs, note = () => () => {} }: Patience): StorePatience {
  let time = { pause: () => {}, goOn: () => {} }
  let reads = 0

  async function through<T>(work: () => Promise<T>): Promise<T> {
    let goesOn: (() => void) | undefined
    try {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        try {
          return await work()
        } catch (error) {
          if (!mayPass(error)) throw error
          goesOn ??= note(error)
          // Over at once when one of them is aborted already.
          await delay(pauseMs, AbortSignal.any([...ends])).catch(() => undefined)
          if (ends.some(({ aborted }) => aborted)) throw error
        }
      }
    } finally {
      goesOn?.()
    }
  }

  async function read<T>(work: () => Promise<T>): Promise<T> {
    reads += 1
    if (reads === 1) time.pause()
    try {
      return await through(work)
    } finally {
      reads -= 1
      if (reads === 0) time.goOn()
    }
  }

  return {
    through,
    layer: (base) => ({ ...base, read: (hash) => read(() => base.read(hash)) }),
    runs: (given) => void (time = given),
  }
}
