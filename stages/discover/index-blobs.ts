import { AppError, hasCode } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { type NodeIndex, unknownLanguage } from './node-index.ts'
import type { Content, ParseJob, ParsePool, ParseResult } from './parse-pool.ts'
import { indexVersion, type QueryPack } from './query-pack.ts'
import { isToBeRead } from './index-file.ts'
import type { ContentMark } from './unwanted/unwanted-content.ts'

export type SourceBlob = {
  hash: string
  size: number
  pack: QueryPack | undefined
  paths: string[]
  admitted: readonly ContentMark[]
}

export type IndexCache = {
  /** The index that was stored for this content and pack; undefined when there is none, or what is stored is not an index. */
  get(blob: SourceBlob): Promise<NodeIndex | undefined>
  /** `index` is JSON. */
  put(blob: SourceBlob, index: string): Promise<void>
}

export type BlobReader = {
  /** The content of a hash. A DISC_005 AppError makes the file a skipped one; any other error ends the discovery. */
  read(hash: string): Promise<Uint8Array>
  /** The absolute path of the file that holds it, if it is on this machine: threads then read it themselves. */
  fileOf?(hash: string): string
  cache?: IndexCache
}

export type IndexedBlob = {
  blob: SourceBlob
  result: { kind: 'indexed'; index: NodeIndex } | Extract<ParseResult, { kind: 'unreadable' }>
  parsed: boolean
}

const batchFiles = 64
const batchBytes = 512 * 1024

/** Cuts blobs into batches of one message to a thread: small enough to spread the work, large enough to make the overhead negligible. */
export function* batchesOf(blobs: Iterable<SourceBlob>): Generator<SourceBlob[]> {
  let batch: SourceBlob[] = []
  let bytes = 0
  for (const blob of blobs) {
    if (batch.length > 0 && (batch.length >= batchFiles || bytes + blob.size > batchBytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(blob)
    bytes += blob.size
  }
  if (batch.length > 0) yield batch
}

export async function indexBatch(
  batch: readonly SourceBlob[],
  reader: BlobReader,
  pool: ParsePool,
): Promise<IndexedBlob[]> {
  const looked = await Promise.all(batch.map(async (blob) => ({ blob, known: await knownIndex(blob, reader) })))
  const misses = looked.flatMap(({ blob, known }) => (known === undefined ? [blob] : []))
  const parsed = await parseBlobs(misses, reader, pool)
  await Promise.all(
    parsed.map(async ({ blob, result }) => {
      if ('text' in result) await reader.cache?.put(blob, result.text)
    }),
  )
  const hits = looked.flatMap(({ blob, known }) =>
    known === undefined ? [] : [{ blob, result: { kind: 'indexed' as const, index: known }, parsed: false }],
  )
  return [...hits, ...parsed]
}

/** The cached index, unless the blob was skipped for a mark that is allowed now. */
async function knownIndex(blob: SourceBlob, { cache }: BlobReader): Promise<NodeIndex | undefined> {
  const known = await cache?.get(blob)
  return known !== undefined && isToBeRead(known, blob.admitted) ? undefined : known
}

type ParsedBlob = Omit<IndexedBlob, 'result'> & { result: ParseResult }

async function parseBlobs(blobs: readonly SourceBlob[], reader: BlobReader, pool: ParsePool): Promise<ParsedBlob[]> {
  const contents = await Promise.all(blobs.map(async (blob) => ({ blob, content: await readBlob(blob, reader) })))
  const indexed: ParsedBlob[] = []
  const jobs: (ParseJob & { blob: SourceBlob })[] = []
  for (const { blob, content } of contents) {
    if (content instanceof AppError) {
      const reason = `${content.code}: ${content.message}`
      indexed.push({ blob, result: { kind: 'unreadable', reason }, parsed: false })
    } else jobs.push({ blob, content, pack: blob.pack, admitted: blob.admitted })
  }
  for (const [at, result] of (await pool.parse(jobs)).entries()) {
    const blob = jobs[at]?.blob
    if (blob !== undefined) indexed.push({ blob, result, parsed: true })
  }
  return indexed
}

async function readBlob(blob: SourceBlob, reader: BlobReader): Promise<Content | AppError> {
  const file = reader.fileOf?.(blob.hash)
  if (file !== undefined) return { file }
  try {
    return await reader.read(blob.hash)
  } catch (error) {
    if (hasCode(error, 'DISC_005')) return error
    throw error
  }
}

/** Equal names mean equal indexes; one with references or facts has another name. It is no longer than a file system allows. */
export function indexName({ hash, pack }: Pick<SourceBlob, 'hash' | 'pack'>): string {
  if (pack === undefined) return `${hash}.${unknownLanguage}.none${indexVersion}`
  const { language, references, facts } = pack
  const further = [references?.hash ?? [], facts ?? []].flat()
  return `${hash}.${language}.${further.length === 0 ? pack.hash : sha256([pack.hash, ...further].join('.'))}`
}
