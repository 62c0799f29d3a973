import type { Readable } from 'node:stream'
import { after } from '#platform/clock.ts'

/** How long the end of an answer may keep the next request waiting once all that counts of it has come. */
const restMs = 250

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
   * Hands over the text piece by piece, never half a character, until it ends or `onText` answers that it is enough: then
   * the rest is dropped, and if that does not come soon, the socket with it. Rejects with what `toError` makes of a break.
   */
  read(onText: (text: string) => 'more' | 'enough'): Promise<void> {
    const content = this.#content
    const decoder = new TextDecoder()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const take = (bytes: Uint8Array) => {
      if (onText(decoder.decode(bytes, { stream: true })) === 'more') return
      content.off('data', take).resume()
      const hasClosed = after(restMs, () => content.destroy())
      content.once('close', hasClosed)
      resolve()
    }
    content.on('error', (cause) => reject(this.#toError(cause)))
    content.once('end', resolve)
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
