/**
 * Entry of a parsing thread. It answers each request with one message. A throw that is not an AppError is not caught:
 * the parser's memory may be damaged, so the thread dies, and the pool sees from the shared progress which file it was.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { parserMemoryBytes } from '#syntax/parser.ts'
import type { NodeIndex } from './node-index.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from './node-query.ts'
import { markProgress, type ParseProgress, type ParseReply, type ParseRequest } from './parse-messages.ts'
import type { QueryPack } from './query-pack.ts'
import { unwantedContent } from './unwanted-content.ts'

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
  const indexes: NodeIndex[] = []
  for (const [file, { start, end, pack }] of request.files.entries()) {
    markProgress(progress, file)
    const bytes = new Uint8Array(request.bytes, start, end - start)
    indexes.push(indexFile(bytes, pack === null ? undefined : queries[pack]))
    if (parserMemoryBytes() > spentBytes) return { indexes, spent: true }
  }
  return { indexes, spent: false }
}

function indexFile(bytes: Uint8Array, query: NodeQuery | undefined): NodeIndex {
  const unwanted = unwantedContent(bytes)
  return unwanted === undefined ? indexNodes(bytes, query) : { skipped: unwanted }
}
