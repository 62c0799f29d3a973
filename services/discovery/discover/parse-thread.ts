/**
 * Entry of a parsing thread. It answers each request with one message. A throw that is not an AppError is not caught:
 * the parser's memory may be damaged, so the thread dies, and the pool sees from the shared progress which file it was.
 */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { parserMemoryBytes } from '#syntax/parser.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from './node-query.ts'
import {
  markProgress,
  type ParseProgress,
  type ParseReply,
  type ParseRequest,
  type ParseResult,
} from './parse-messages.ts'
import type { QueryPack } from './query-pack.ts'
import { judgeContent, markReasons, type ContentMark } from './unwanted/unwanted-content.ts'

/** What the parsers of a thread may keep for good: memory of wasm never shrinks, and one large file takes a lot. */
const spentBytes = 128 * 1024 ** 2

const progress: ParseProgress = workerData
const compiled = new Map<string, Promise<NodeQuery>>()

parentPort?.on('message', (request: ParseRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply))
})

async function answer(request: ParseRequest): Promise<ParseReply> {
  try {
    const queries = await Promise.all(request.packs.map(compiledOnce))
    return parseFiles(request, queries)
  } catch (error) {
    if (error instanceof AppError) return { failed: { code: error.code, message: error.message } }
    throw error
  }
}

async function compiledOnce(pack: QueryPack): Promise<NodeQuery> {
  const key = `${pack.hash}.${pack.references?.hash ?? ''}`
  const known = compiled.get(key) ?? compileNodeQuery(pack)
  compiled.set(key, known)
  return known
}

function parseFiles(request: ParseRequest, queries: readonly NodeQuery[]): ParseReply {
  const results: ParseResult[] = []
  for (const [file, source] of request.files.entries()) {
    markProgress(progress, file)
    const bytes = 'file' in source ? readOrUndefined(source.file) : bytesOf(request, source)
    const query = source.pack === null ? undefined : queries[source.pack]
    results.push(parseFile(bytes, query, source.admitted))
    if (parserMemoryBytes() > spentBytes) return { results, spent: true }
  }
  return { results, spent: false }
}

function parseFile(
  bytes: Uint8Array | undefined,
  query: NodeQuery | undefined,
  admitted: readonly ContentMark[],
): ParseResult {
  if (bytes === undefined) return { kind: 'unreadable', reason: 'DISC_005: the file cannot be read' }
  const judged = judgeContent(bytes)
  if ('unwanted' in judged) return { kind: 'indexed', index: { skipped: judged.unwanted } }
  const { marks } = judged
  if (marks.length === 0) return { kind: 'indexed', index: indexNodes(bytes, query) }
  const refused = marks.find((mark) => !admitted.includes(mark))
  if (refused !== undefined) return { kind: 'indexed', index: { skipped: markReasons[refused], marks } }
  return { kind: 'indexed', index: { ...indexNodes(bytes, query), marks } }
}

function bytesOf({ bytes }: ParseRequest, { start, end }: { start: number; end: number }): Uint8Array {
  return new Uint8Array(bytes, start, end - start)
}

function readOrUndefined(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
