import type { Tree } from 'web-tree-sitter'
import { docLanguageOf } from './doc-language.ts'
import { fileDocs } from './file-docs.ts'
import { definitionAt } from './find-definition.ts'

/** Places a code node in its stored file (UTF-8). */
export type NodeBytes = { startByte: number; endByte: number }

export type DefinitionFacts = { startByte: number; hasDoc: boolean; visibility: 'public' | 'private'; exempt?: string }

export const noCommentVotes = { typed: 0, untyped: 0, dash: 0, noDash: 0, oneLine: 0, manyLines: 0 }
export type CommentVotes = typeof noCommentVotes

export type FileDocFacts = { definitions: DefinitionFacts[]; votes: CommentVotes }

export function docFactsOf(
  tree: Tree,
  { source, language, nodes }: { source: string; language: string; nodes: readonly NodeBytes[] },
): FileDocFacts {
  const docLanguage = docLanguageOf(language)
  if (docLanguage === undefined) return { definitions: [], votes: noCommentVotes }
  const indexOf = utf16Indices(
    source,
    nodes.flatMap(({ startByte, endByte }) => [startByte, endByte]),
  )
  const definitions = nodes.flatMap(({ startByte, endByte }): DefinitionFacts[] => {
    const range = { start: indexOf(startByte), end: indexOf(endByte) }
    const definition = definitionAt(tree, { source, range, language: docLanguage })
    if (definition === undefined) return []
    const { hasDoc, visibility, exempt } = definition
    return [{ startByte, hasDoc, visibility, ...(exempt === undefined ? {} : { exempt }) }]
  })
  const votes = { ...noCommentVotes }
  for (const { content } of fileDocs(tree, source, docLanguage)) count(content, votes)
  return { definitions, votes }
}

function count(comment: string, votes: CommentVotes): void {
  const parameters = [
    ...comment.matchAll(/^[ \t*/]*@param[ \t]+(\{[^\n]*?\}[ \t]*)?(?:\[[^\]\n]*\]|[^\s{]+)([ \t]+[-–—])?/gm),
  ]
  for (const [, type, dash] of parameters) {
    votes[type === undefined ? 'untyped' : 'typed'] += 1
    votes[dash === undefined ? 'noDash' : 'dash'] += 1
  }
  if (!comment.startsWith('/**')) return
  if (!comment.includes('\n')) votes.oneLine += 1
  // One short sentence that could stand on one line.
  else if (comment.split('\n').length === 3 && !comment.includes('@')) votes.manyLines += 1
}

function utf16Indices(source: string, offsets: readonly number[]): (offset: number) => number {
  const bytes = Buffer.from(source)
  const indices = new Map<number, number>()
  let [at, index] = [0, 0]
  for (const offset of [...new Set(offsets)].toSorted((left, right) => left - right)) {
    index += bytes.subarray(at, offset).toString().length
    at = offset
    indices.set(offset, index)
  }
  return (offset) => indices.get(offset) ?? 0
}
