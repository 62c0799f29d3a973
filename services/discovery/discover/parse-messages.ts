import type { ErrorCode } from '#domain/error.ts'
import type { NodeIndex } from './node-index.ts'
import type { QueryPack } from './query-pack.ts'
import type { ContentMark } from './unwanted/unwanted-content.ts'

/** What became of one file; `unreadable` is DISC_005 and must not be cached. */
export type ParseResult = { kind: 'indexed'; index: NodeIndex } | { kind: 'unreadable'; reason: string }

/**
 * What the pool hands a thread: files by their place in one buffer, which is transferred, or by their absolute path.
 * `packs` are referred to by index.
 */
export type ParseRequest = {
  bytes: ArrayBuffer
  packs: readonly QueryPack[]
  files: readonly (({ start: number; end: number } | { file: string }) & {
    pack: number | null
    /** A content with other marks is skipped. */
    admitted: readonly ContentMark[]
  })[]
}

/**
 * One result per file, in order, of all files unless the thread is `spent`: it holds more memory than it should, which it
 * cannot give back, and has stopped behind the file that took it. Or the one error that concerns the whole request.
 */
export type ParseReply = { results: ParseResult[]; spent: boolean } | { failed: { code: ErrorCode; message: string } }

/** Shared with the pool: [0] the file being parsed (-1 before the first), [1] when it was begun, `Date.now()`. */
export type ParseProgress = BigInt64Array<SharedArrayBuffer>

export function newProgress(): ParseProgress {
  return new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT))
}

export function markProgress(progress: ParseProgress, file: number): void {
  Atomics.store(progress, 1, BigInt(Date.now()))
  Atomics.store(progress, 0, BigInt(file))
}

/** The file a thread is at, and for how many milliseconds. */
export function readProgress(progress: ParseProgress): { file: number; forMs: number } {
  return { file: Number(Atomics.load(progress, 0)), forMs: Date.now() - Number(Atomics.load(progress, 1)) }
}
