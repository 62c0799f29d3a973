/** One entry of a listing. `lastModified` is milliseconds since the epoch by the store's clock: when it was last put. */
export type ListedObject = { key: string; lastModified: number; bytes: number }

/** `start` ≥ 0 and < `end`. */
export type ByteRange = { start: number; end: number }

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
  /** Bytes `start` to `end` (exclusive), both inside the object. STORE_002 when the store answers any other number of bytes. */
  getRange(key: string, range: ByteRange): Promise<Uint8Array>
  /** The object's bytes as they arrive; leaving the loop early, or aborting `signal`, ends the request. */
  getStream(key: string, signal?: AbortSignal): AsyncIterable<Uint8Array>
  exists(key: string): Promise<boolean>
  /** The object's entry in a listing; undefined when it is not there. */
  stat(key: string): Promise<ListedObject | undefined>
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>
  /**
   * Every object whose key starts with `prefix`, in the store's order of keys, a page at a time. What is put or deleted
   * meanwhile may be in it or not.
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ListedObject>
  /** Like `delete` for many keys, 1,000 to a request. On failure some of them may be gone. */
  deleteMany(keys: readonly string[], signal?: AbortSignal): Promise<void>
  /** Resolves when the bucket answers. */
  ping(): Promise<void>
  close(): void
}
