/**
 * Entry of a parsing thread. It answers each request with one message. A throw that is not an AppError is not caught:
 * the parser's memory may be damaged, so the thread dies, and the pool sees from the shared progress which file it was.
 */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from './node-query.ts'
import {
  markProgress,
  type ParseProgress,
  type ParseReply,
  type ParseRequest,
  type ParseResult,
} from './parse-messages.ts'
import type { QueryPack } from './query-pack.ts'
import { unwantedContent } from './unwanted-content.ts'

const progress: ParseProgress = workerData
const compiled = new Map<string, Promise<NodeQuery>>()

parentPort?.on('message', (request: ParseRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply))
})

async function answer(request: ParseRequest): Promise<ParseReply> {
  try {
    const queries = await Promise.all(request.packs.map(compiledOnce))
    return { results: parseFiles(request, queries) }
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

function parseFiles(request: ParseRequest, queries: readonly NodeQuery[]): ParseResult[] {
  return request.files.map((source, file) => {
    markProgress(progress, file)
    const bytes = 'file' in source ? readOrUndefined(source.file) : bytesOf(request, source)
    if (bytes === undefined) return { kind: 'unreadable', reason: 'DISC_005: the file cannot be read' }
    const unwanted = unwantedContent(bytes)
    if (unwanted !== undefined) return { kind: 'indexed', index: { skipped: unwanted } }
    return { kind: 'indexed', index: indexNodes(bytes, source.pack === null ? undefined : queries[source.pack]) }
  })
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
