import type { Query, QueryMatch, Tree } from 'web-tree-sitter'
import { expressionPath, noPath, typePath } from './expression-path.ts'
import type { Reference } from './reference.ts'

/** A reference before it is placed: `at` is its index in the text, in UTF-16 units. */
export type FoundReference = Omit<Reference, 'from'> & { at: number }

const kinds = { import: 'import', call: 'call', inherits: 'inherits', local: 'local' } as const

/** Every reference the query matches, in the order it gives them. */
export function findReferences(tree: Tree, text: string, query: Query): FoundReference[] {
  return query.matches(tree.rootNode).flatMap((match) => referenceOf(match, text))
}

function referenceOf({ captures, setProperties }: QueryMatch, text: string): FoundReference[] {
  const parts: Record<string, string> = {}
  let kind: Reference['kind'] | undefined
  let at = 0
  for (const { name, node } of captures) {
    const [of = '', part = ''] = name.split('.')
    const known = Object.hasOwn(kinds, of) ? Object.entries(kinds).find(([key]) => key === of)?.[1] : undefined
    if (known === undefined) continue
    kind ??= known
    if (at === 0 || part === 'name') at = node.startIndex
    parts[part] = text.slice(node.startIndex, node.endIndex)
  }
  if (kind === undefined) return []
  const { module, type, value, receiver } = parts
  const name = parts['name'] ?? setProperties?.['name'] ?? ''
  const alias = parts['alias'] ?? setProperties?.['alias'] ?? undefined
  const typed = type === undefined ? undefined : typePath(type)
  const given = value === undefined ? noPath : expressionPath(value)
  return [
    {
      kind,
      at,
      name: kind === 'inherits' || kind === 'local' ? name.replace(/\s+/g, '') : name,
      ...(module === undefined ? {} : { module: module.replace(/\s+/g, '') }),
      ...(alias === undefined || alias === null ? {} : { alias }),
      ...(receiver === undefined ? {} : { receiver: expressionPath(receiver) }),
      ...(typed === undefined ? {} : { type: typed }),
      ...(given === noPath ? {} : { value: given }),
    },
  ]
}
