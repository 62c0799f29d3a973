/**
 * Entry of a parsing thread. It answers each request with one reply. A throw that is not an AppError is not caught: the
 * parser's memory may be damaged, so the thread dies.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { AppError } from '#domain/error.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import { parserMemoryBytes } from '#languages/syntax/parser.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from './node-query.ts'
import type { NodeIndex } from './node-index.ts'
import type { ParsedFile, ParseReply, ParseRequest } from './parse-pool.ts'
import type { QueryPack } from './query-pack.ts'
import { judgeContent, markReasons, type ContentMark } from './unwanted/unwanted-content.ts'

/** A thread whose parsers hold more is replaced: the memory of wasm never shrinks, and one large file takes a lot. */
const spentBytes = 128 * 1024 ** 2

/**
 * V8 optimises a function of wasm after it has run about so many bytes of it; its own 13 million are few for a lexer of 160 kB, which then
 * takes 700 MB and seconds for two files. Parsing 1,789 files peaks at 485 MB with this, else at 1,110, with no more CPU. It counts for
 * the whole process; in a worker, whose small texts come for hours, an operation took 17 % more with it.
 */
const tieringBudgetBytes = 400_000_000
setFlagsFromString(`--wasm-tiering-budget=${tieringBudgetBytes}`)

const isSpent = () => parserMemoryBytes() > spentBytes
const compiled = new Map<string, Promise<NodeQuery>>()

answerRequests<ParseRequest, ParseReply>(async (request, begin) => {
  try {
    const queries = await Promise.all(request.packs.map(compiledOnce))
    return { results: parseFiles(request, queries, begin) }
  } catch (error) {
    if (error instanceof AppError) return { failed: { code: error.code, message: error.message } }
    throw error
  }
}, isSpent)

function compiledOnce(pack: QueryPack): Promise<NodeQuery> {
  return getOrMake(compiled, `${pack.hash}.${pack.references?.hash ?? ''}.${pack.facts ?? ''}`, () =>
    compileNodeQuery(pack),
  )
}

function parseFiles(request: ParseRequest, queries: readonly NodeQuery[], begin: (file: number) => void): ParsedFile[] {
  const results: ParsedFile[] = []
  for (const [file, source] of request.files.entries()) {
    begin(file)
    const bytes =
      'file' in source
        ? readOrUndefined(source.file)
        : new Uint8Array(request.bytes, source.start, source.end - source.start)
    const query = source.pack === null ? undefined : queries[source.pack]
    if (bytes === undefined) results.push({ kind: 'unreadable', reason: 'DISC_005: the file cannot be read' })
    else results.push({ kind: 'indexed', text: JSON.stringify(parseFile(bytes, query, source.admitted)) })
    if (isSpent()) break
  }
  return results
}

function parseFile(bytes: Uint8Array, query: NodeQuery | undefined, admitted: readonly ContentMark[]): NodeIndex {
  const judged = judgeContent(bytes, query?.name)
  if ('unwanted' in judged) return { skipped: judged.unwanted }
  const { marks } = judged
  if (marks.length === 0) return indexNodes(bytes, query)
  const refused = marks.find((mark) => !admitted.includes(mark))
  if (refused !== undefined) return { skipped: markReasons[refused], marks }
  return { ...indexNodes(bytes, query), marks }
}

function readOrUndefined(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
