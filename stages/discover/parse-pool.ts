import { AppError, type ErrorCode, hasCode } from '#domain/error.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import type { NodeIndex } from './node-index.ts'
import type { QueryPack } from './query-pack.ts'
import type { ContentMark } from './unwanted/unwanted-content.ts'

/** The bytes of a file, or its absolute path, from which the thread then reads it. */
export type Content = Uint8Array | { file: string }

/** A file to parse. Without a pack the result is the file node alone. A file with a mark that is not admitted is skipped. */
export type ParseJob = { content: Content; pack: QueryPack | undefined; admitted?: readonly ContentMark[] }

/** `text` is the index as JSON, as it is cached. `unreadable` is DISC_005 and must not be cached. */
export type ParseResult = { kind: 'indexed'; index: NodeIndex; text: string } | { kind: 'unreadable'; reason: string }

/** The thread sends JSON alone: the copies of objects that are passed between threads take a third more memory and twice the time. */
export type ParsedFile = Exclude<ParseResult, { kind: 'indexed' }> | { kind: 'indexed'; text: string }

/** Files by their position in one buffer, which is transferred, or by absolute path; `pack` is an index of `packs`. */
export type ParseRequest = {
  bytes: ArrayBuffer
  packs: readonly QueryPack[]
  files: readonly (({ start: number; end: number } | { file: string }) & {
    pack: number | null
    admitted: readonly ContentMark[]
  })[]
}

/** The results of the first files, in order; of all of them unless the thread is spent. Or an error of the whole request. */
export type ParseReply = { results: ParsedFile[] } | { failed: { code: ErrorCode; message: string } }

export type ParsePool = ReturnType<typeof openParsePool>

/**
 * Threads that parse, started when first needed. A thread that crashes or overruns `fileLimitMs` on a file is replaced:
 * that file is unreadable, the rest of its batch is parsed again. One that holds too much memory after a file is replaced
 * as well. `threads: 0` means one per core.
 */
export function openParsePool(options: { threads: number; fileLimitMs?: number }) {
  const pool = openThreadPool<ParseRequest, ParseReply>({
    entry: new URL('./parse-thread.ts', import.meta.url),
    name: 'the parser',
    work: 'parsing',
    threads: options.threads,
    requestsPerThread: 1,
    limitMs: options.fileLimitMs ?? 10_000,
    // A busy machine is no fault of a file, and a thread that dies while it starts is noticed without a limit.
    startLimitMs: Infinity,
    memoryMb: 512,
    idleMs: 2_000,
  })

  /**
   * Parses a batch on one thread, one result per job in order. Waits for a thread when all are busy. Throws the AppError of
   * a pack that is at fault, and DISC_005 when no thread starts. Never keeps or changes the jobs' bytes.
   */
  async function parse(jobs: readonly ParseJob[]): Promise<ParseResult[]> {
    const results = new Map<ParseJob, ParseResult>()
    for (;;) {
      const left = jobs.filter((job) => !results.has(job))
      if (left.length === 0) return jobs.flatMap((job) => results.get(job) ?? [])
      for (const [at, result] of await parseSome(left)) {
        const job = left[at]
        if (job === undefined) continue
        const again = result.kind === 'unreadable' ? withoutFacts(job) : undefined
        results.set(job, again === undefined ? result : ((await parse([again]))[0] ?? result))
      }
    }
  }

  async function parseSome(jobs: readonly ParseJob[]): Promise<Iterable<[number, ParseResult]>> {
    const request = requestOf(jobs)
    const answer = await pool.ask(request, [request.bytes]).catch((error: unknown) => {
      throw hasCode(error, 'TOOL_004') ? unparsable(error.message, error) : error
    })
    if (answer.kind === 'lost') {
      const { item, why } = answer
      if (item >= 0) return [[item, { kind: 'unreadable', reason: `DISC_005: ${why}` }]]
      throw unparsable(why)
    }
    if ('results' in answer.report) return answer.report.results.map(resultOf).entries()
    const { code, message } = answer.report.failed
    throw new AppError(code, message, { phase: 'discovery' })
  }

  /** `close` ends the threads; batches that are running or waiting fail. Safe to call twice. */
  return { threads: pool.threads, parse, close: pool.close }
}

function resultOf(file: ParsedFile): ParseResult {
  if (file.kind === 'unreadable') return file
  const index: NodeIndex = JSON.parse(file.text)
  return { ...file, index }
}

/** A file whose facts are what ended the thread still has its nodes. */
function withoutFacts(job: ParseJob): ParseJob | undefined {
  if (job.pack?.facts === undefined) return undefined
  const { facts: _, ...pack } = job.pack
  return { ...job, pack }
}

function unparsable(why: string, cause?: AppError): AppError {
  return new AppError('DISC_005', `no file can be parsed: ${why}`, { phase: 'discovery', cause })
}

/** Copies contents into one fresh buffer that can be transferred: a Buffer's own memory may be shared with others. */
function requestOf(jobs: readonly ParseJob[]): ParseRequest {
  const packs = [...new Set(jobs.flatMap((job) => (job.pack === undefined ? [] : [job.pack])))]
  const bytes = new ArrayBuffer(jobs.reduce((sum, { content }) => sum + ('file' in content ? 0 : content.length), 0))
  const target = new Uint8Array(bytes)
  let end = 0
  const files = jobs.map(({ content, pack, admitted = [] }) => {
    const packAt = pack === undefined ? null : packs.indexOf(pack)
    if ('file' in content) return { file: content.file, pack: packAt, admitted }
    const start = end
    target.set(content, start)
    end += content.length
    return { start, end, pack: packAt, admitted }
  })
  return { bytes, packs, files }
}
