import type { Readable } from 'node:stream'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'

/** How long what follows may keep the caller, or the next request, waiting once what counts of an answer has come. */
const restMs = 250

/**
 * What a reader wants of the text that follows: `rest`, what comes at once, as a server sends its usage behind a reply that
 * is whole; or nothing.
 */
export type Appetite = 'more' | 'rest' | 'enough'

/** A Response whose body is read as it comes, once. `body` is null. */
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
   * Hands over the text piece by piece, never half a character, until it ends, `onText` answers that it is enough, or nothing
   * comes any more where it wants but the rest. Then what follows is dropped, and if that does not come soon, the socket
   * with it. Rejects with what `toError` makes of a break, and AGENT_008 when `onText` throws: nothing may escape from
   * here, where nobody could catch it.
   */
  read(onText: (text: string) => Appetite): Promise<void> {
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
      const wanted = appetite(onText, decoder.decode(bytes, { stream: true }))
      if (wanted === 'more') return
      if (typeof wanted === 'object') {
        reject(wanted)
        content.destroy()
        return
      }
      stopWaiting = after(restMs, leave)
      if (wanted === 'rest') return
      content.off('data', take).resume()
      resolve()
    }
    content.on('error', (cause) => reject(this.#toError(cause)))
    content.once('end', resolve)
    content.once('close', () => stopWaiting())
    content.on('data', take)
    return promise
  }

  /** Calls `work` once nothing more comes, whatever the reason. */
  whenClosed(work: () => void): void {
    this.#content.once('close', work)
  }

  /** Closes the socket; `read` rejects for this reason. */
  abort(reason: Error): void {
    this.#content.destroy(reason)
  }
}

function appetite(onText: (text: string) => Appetite, text: string): Appetite | AppError {
  try {
    return onText(text)
  } catch (cause) {
    return new AppError('AGENT_008', 'the answer cannot be read', { cause, phase: 'model' })
  }
}
