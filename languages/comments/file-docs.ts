import type { Node, Tree } from 'web-tree-sitter'
import { type Described, emptyWording } from './empty-wording.ts'
import { normalisedComment } from './comment-text.ts'
import { type Definition, type DocLanguage, isComment } from './definition.ts'
import { parameterFault } from './documented-parameters.ts'

type Contents = readonly { content: string }[]

/**
 * Returns the doc comments of a file that stand above a definition. With `before`, those of an earlier text, it returns what is there more often
 * than in these, and judges it; `fault`: how the parameters in one differ from those of the signature.
 */
export function fileDocs(tree: Tree, source: string, language: DocLanguage, before?: Contents) {
  const types = tree.language.types.filter((type) => /(?:^|_)comment$/.test(type) && type !== 'doc_comment')
  const comments = types.length === 0 ? [] : tree.rootNode.descendantsOfType(types)
  const groups = groupsOf(comments, source).map((group) => ({ group, content: contentOf(group) }))
  return (before === undefined ? groups : moreOf(groups, before)).flatMap(({ group, content }) => {
    const [first, last] = [group[0], group.at(-1)]
    const node = last && definitionBelow(tree, source, last.startIndex + last.text.trimEnd().length)
    if (first === undefined || node === undefined) return []
    const start = node.startIndex
    const place = { start, end: node.endIndex, source, above: group, top: start }
    const definition = language.read(node, place)
    if (definition === undefined) return []
    const line = first.startPosition.row + 1
    if (before === undefined) return [{ line, content, fault: undefined, empty: undefined }]
    const text = normalisedComment(content)
    const fault = parameterFault(text, { ...definition, hasDoc: true }, language)
    return [{ line, content, fault, empty: emptyWording(text, describedBy(definition)) }]
  })
}

function contentOf(group: readonly Node[]): string {
  return group.map((comment) => comment.text.trimEnd()).join('\n')
}

function moreOf<Item extends { content: string }>(now: readonly Item[], before: Contents): Item[] {
  const known = Map.groupBy(before, ({ content }) => content)
  const all = Map.groupBy(now, ({ content }) => content)
  return now.filter(({ content }) => (all.get(content)?.length ?? 0) > (known.get(content)?.length ?? 0))
}

function describedBy({ name, parameters, typeParameters, returns, throws }: Omit<Definition, 'hasDoc'>): Described {
  const given = parameters.flatMap((parameter) => [parameter.name, parameter.type, parameter.default])
  return { name, signature: [...given, ...typeParameters, returns, ...throws].join(' ') }
}

function groupsOf(comments: readonly Node[], source: string): Node[][] {
  const groups: Node[][] = []
  for (const comment of comments) {
    const last = groups.at(-1)?.at(-1)
    const between = last && source.slice(last.startIndex + last.text.trimEnd().length, comment.startIndex)
    const isJoined =
      comment.text.startsWith('//') &&
      last?.text.startsWith('//') &&
      // Of Rust, about the module: no part of the next item's.
      comment.text.startsWith('//!') === last.text.startsWith('//!') &&
      /^\s*$/.test(between ?? 'x')
    if (isJoined === true && (between?.match(/\n/g) ?? []).length < 2) groups.at(-1)?.push(comment)
    else groups.push([comment])
  }
  return groups
}

const lead = /decorator|attribute|annotation/

function definitionBelow({ rootNode }: Tree, source: string, from: number): Node | undefined {
  const index = from + (/^\s*/.exec(source.slice(from))?.[0].length ?? 0)
  if (index >= source.length) return undefined
  let node: Node | null = rootNode.descendantForIndex(index, index + 1)
  for (; node !== null; node = node.parent) {
    const { parent } = node
    if (parent === null || parent.id === rootNode.id || parent.startIndex !== index) break
  }
  while (node !== null && (lead.test(node.type) || isComment(node))) node = node.nextSibling
  return node ?? undefined
}
