import { grailName } from './grail-name.ts'
import type { LocatedFault } from './script-declarations.ts'
import { scriptFault } from './script-fault.ts'
import { partsOf, walk, type SyntaxNode } from './syntax-node.ts'

/** What looks like a declaration in code that declares nothing: it would fail when it runs. */
export function strayDeclarations(code: readonly SyntaxNode[]): LocatedFault[] {
  return code.flatMap((statement) =>
    Array.from(walk(statement), strayFault).filter((fault): fault is LocatedFault => fault !== undefined),
  )
}

function strayFault(node: SyntaxNode): LocatedFault | undefined {
  if (node.type === 'call' && grailName(node.childForFieldName('function')) === 'Input') {
    return scriptFault(node, 'E008', 'declares no input here; write `name: T = Input("name")` at the top level')
  }
  if (node.type !== 'decorator') return undefined
  const [mark] = partsOf(node)
  const endLine = (node.parent ?? node).endPosition.row + 1
  if (grailName(mark) === 'external') {
    const message = 'declares no external here; write `@external` and a def at the top level'
    return { ...scriptFault(node, 'E006', message), endLine }
  }
  const isCalled = mark?.type === 'call' && grailName(mark.childForFieldName('function')) === 'external'
  return isCalled ? { ...scriptFault(node, 'E006', 'write `@external` without parentheses'), endLine } : undefined
}
