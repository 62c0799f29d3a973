import type { SyntaxNode } from './syntax-node.ts'

export type GrailName = 'Input' | 'external'

/** What of `grail` an expression names: `Input`, `external`, or either behind `grail.`. Undefined for anything else. */
export function grailName(node: SyntaxNode | null | undefined): GrailName | undefined {
  const name =
    node?.type === 'attribute' && node.childForFieldName('object')?.text === 'grail' ? attributeOf(node) : node
  if (name?.type !== 'identifier') return undefined
  return name.text === 'Input' || name.text === 'external' ? name.text : undefined
}

function attributeOf(node: SyntaxNode): SyntaxNode | null {
  return node.childForFieldName('attribute')
}
