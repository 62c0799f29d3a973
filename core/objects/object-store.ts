/**
 * Objects by key in one bucket. Every failure is an AppError: STORE_002 when the store does not answer (after bounded
 * retries), STORE_003 when the object is not there. Content-addressed keys make every put repeatable.
 */
export type ObjectStore = {
  put(key: string, body: Uint8Array | string, options?: { contentType?: string }): Promise<void>
  /**
   * Stores a stream of unknown length, holding one part of it in memory. INTAKE_003 when it is over `maxBytes`; then,
   * as when `source` throws, no object is stored under `key` and what was sent is dropped.
   */
  putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { maxBytes: number; contentType: string },
  ): Promise<{ bytes: number }>
  get(key: string): Promise<Uint8Array>
  /** The object's bytes as they arrive; leaving the loop early, or aborting `signal`, ends the request. */
  getStream(key: string, signal?: AbortSignal): AsyncIterable<Uint8Array>
  exists(key: string): Promise<boolean>
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>
  /** Resolves when the bucket answers. */
  ping(): Promise<void>
  close(): void
}
