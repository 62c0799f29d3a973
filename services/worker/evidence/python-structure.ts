import { LRUCache } from 'lru-cache'
import type { Node, Tree } from 'web-tree-sitter'
import { sha256 } from '#domain/hash.ts'

/**
 * Hashes a source's tokens without comments and docstrings, and without a `pass` or `...` that stands alone in a body (a
 * docstring makes it superfluous). Two texts with equal hashes run the same but for `__doc__`.
 */
export type StructureHash = (tree: Tree) => string

const keptStatements = 20_000

/** Compound statements are remembered by their text, so that a file is read again only where it changed. */
export function openStructureHash(): StructureHash {
  const statements = new LRUCache<string, string>({ max: keptStatements })

  function hashOf(statement: Node): string {
    const key = sha256(`${statement.type}\0${statement.text}`)
    const known = statements.get(key)
    if (known !== undefined) return known
    const tokens: string[] = []
    for (const child of statement.children) if (child !== null) collect(child, tokens)
    const hash = sha256(tokens.join('\0'))
    statements.set(key, hash)
    return hash
  }

  function collect(node: Node, tokens: string[]): void {
    if (node.type === 'comment') return
    if (node.childCount === 0 || node.type === 'string') {
      tokens.push(node.text)
    } else if (remembered.has(node.type)) {
      tokens.push(hashOf(node))
    } else if (node.type === 'block' || node.type === 'module') {
      // Where a block begins and ends carries meaning that its tokens alone do not.
      tokens.push('{')
      for (const statement of statementsThatRun(node)) collect(statement, tokens)
      tokens.push('}')
    } else {
      for (const child of node.children) if (child !== null) collect(child, tokens)
    }
  }

  return (tree) => {
    const tokens: string[] = []
    collect(tree.rootNode, tokens)
    return sha256(tokens.join('\0'))
  }
}

/** Statements worth remembering: what they hash to does not depend on where they stand. */
const remembered = new Set([
  'function_definition',
  'class_definition',
  'decorated_definition',
  'if_statement',
  'for_statement',
  'while_statement',
  'try_statement',
  'with_statement',
  'expression_statement',
])

function statementsThatRun(body: Node): Node[] {
  const statements = body.namedChildren.filter((child) => child !== null && child.type !== 'comment')
  const owner = body.parent
  const mayHaveDocstring = owner === null || owner.type === 'function_definition' || owner.type === 'class_definition'
  const rest = mayHaveDocstring && isDocstring(statements[0]) ? statements.slice(1) : statements
  const isFiller = rest.length === 1 && mayHaveDocstring && ['pass', '...'].includes(rest[0]?.text ?? '')
  return isFiller ? [] : rest
}

/** Whether a statement is a bare string: a docstring when it comes first in a body. */
export function isDocstring(statement: Node | null | undefined): boolean {
  const expression = statement?.type === 'expression_statement' ? statement.namedChildren : []
  return expression.length === 1 && expression[0]?.type === 'string' && !/^[bBfFtT]/.test(expression[0].text)
}
