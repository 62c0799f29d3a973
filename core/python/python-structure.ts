import { LRUCache } from 'lru-cache'
import type { Node, Tree } from 'web-tree-sitter'
import { sha256 } from '#domain/hash.ts'
import { foreignEncoding } from './declared-encoding.ts'
import { codeIn, docstringOf, isTrivia } from './docstring-expression.ts'

/**
 * Hashes a source's tokens without comments and docstrings, and without a `pass` or `...` that stands alone in a body (a
 * docstring makes it superfluous). Two texts with equal hashes run the same but for `__doc__`.
 */
export type StructureHash = (tree: Tree, source: string) => string

const keptStatements = 20_000

/** What is left to do: a node to read, a token that stands here, or the end of a remembered statement. */
type Step = Node | string | { statement: string }

/** Compound statements are remembered by their text, so that a file is read again only where it changed. */
export function openStructureHash(): StructureHash {
  const statements = new LRUCache<string, string>({ max: keptStatements })

  /** No recursion: a source may be nested deeper than the stack is. */
  function tokensOf(root: Node): string[] {
    const open: string[][] = []
    let tokens: string[] = []
    const steps: Step[] = [root]
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (typeof step === 'string') {
        tokens.push(step)
      } else if ('statement' in step) {
        const hash = sha256(tokens.join('\0'))
        statements.set(step.statement, hash)
        tokens = open.pop() ?? []
        tokens.push(hash)
      } else if (!remembered.has(step.type)) {
        for (const next of stepsInto(step).toReversed()) steps.push(next)
      } else {
        const statement = sha256(`${step.type}\0${step.text}`)
        const known = statements.get(statement)
        if (known !== undefined) {
          tokens.push(known)
          continue
        }
        open.push(tokens)
        tokens = []
        steps.push({ statement })
        for (const child of childrenOf(step).toReversed()) steps.push(child)
      }
    }
    return tokens
  }

  return (tree, source) => {
    // The one comment that is no comment: it says how the bytes of every string are read.
    const encoding = foreignEncoding(source) ?? ''
    return sha256([encoding, ...tokensOf(tree.rootNode)].join('\0'))
  }
}

function stepsInto(node: Node): Step[] {
  if (isTrivia(node)) return []
  if (node.childCount === 0 || node.type === 'string') return [node.text]
  // Where a block begins and ends carries meaning that its tokens alone do not.
  if (node.type === 'block' || node.type === 'module') return ['{', ...statementsThatRun(node), '}']
  return childrenOf(node)
}

function childrenOf(node: Node): Node[] {
  return node.children.filter((child) => child !== null)
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
  const statements = codeIn(body)
  const owner = body.parent
  const mayHaveDocstring = owner === null || owner.type === 'function_definition' || owner.type === 'class_definition'
  const rest = mayHaveDocstring && docstringOf(statements[0]) !== undefined ? statements.slice(1) : statements
  const isFiller = rest.length === 1 && mayHaveDocstring && ['pass', '...'].includes(rest[0]?.text ?? '')
  return isFiller ? [] : rest
}
