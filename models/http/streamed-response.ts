import type { Readable } from 'node:stream'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'

/** The socket is closed after so long without a byte. Some servers send their last words or usage seconds after the `finish_reason`. */
const quietMs = { rest: 5000, enough: 250 }

/** A reader wants all of the text that follows; `rest`, what arrives soon (usage after a reply); or nothing. */
export type StreamDemand = 'more' | 'rest' | 'enough'

/** Has a body that is read as it arrives, once. `body` is null. */
export class StreamedResponse extends Response {
  readonly #content: Readable
  readonly #toError: (cause: unknown) => unknown

  constructor(
    content: Readable,
    init: { status: number; headers: Record<string, string>; toError: (cause: unknown) => unknown },
  ) {
    super(null, init)
    this.#content = content
    this.#toError = init.toError
  }

  /**
   * Passes the text on piece by piece, never half a character, until it ends, `onText` returns `enough`, or nothing more arrives
   * after `rest`. Rejects with the result of `toError` for a broken answer, and with AGENT_008 when `onText` throws.
   */
  read(onText: (text: string) => StreamDemand): Promise<void> {
    const content = this.#content
    const decoder = new TextDecoder()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let stopWaiting = () => {}
    const leave = () => {
      resolve()
      content.destroy()
    }
    const take = (bytes: Uint8Array) => {
      stopWaiting()
      const demand = demandOf(onText, decoder.decode(bytes, { stream: true }))
      if (demand === 'more') return
      if (typeof demand === 'object') {
        reject(demand)
        content.destroy()
        return
      }
      stopWaiting = after(quietMs[demand], leave)
      if (demand === 'rest') return
      content.off('data', take).resume()
      resolve()
    }
    content.on('error', (cause) => reject(this.#toError(cause)))
    content.once('end', resolve)
    content.once('close', () => stopWaiting())
    content.on('data', take)
    return promise
  }

  whenClosed(work: () => void): void {
    this.#content.once('close', work)
  }

  abort(reason: Error): void {
    this.#content.destroy(reason)
  }
}

function demandOf(onText: (text: string) => StreamDemand, text: string): StreamDemand | AppError {
  try {
    return onText(text)
  } catch (cause) {
    return new AppError('AGENT_008', 'the answer cannot be read', { cause, phase: 'model' })
  }
}
