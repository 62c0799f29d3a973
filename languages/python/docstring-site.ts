import type { Node, Tree } from 'web-tree-sitter'
import { codeIn, docstringOf, docstringParts, firstCodeIn } from './python-nodes.ts'

export type DocstringSite = {
  kind: 'function' | 'class'
  definition: Node
  /** Is the definition with its decorators. */
  whole: Node
  body: Node
  /** Is the docstring's expression; undefined without one, and for an empty one. */
  docstring: Node | undefined
  /** Is a first statement that is an empty string, to be replaced. */
  emptyDocstring: Node | undefined
  decorators: string[]
  /** Is true for a class whose statements name `__doc__`: a docstring next to that may break it. */
  setsDoc: boolean
}

/** Finds the function or class that starts at `index` (UTF-16 units), decorators included. */
export function findDocstringSite(tree: Tree, index: number): DocstringSite | undefined {
  for (let node = tree.rootNode.descendantForIndex(index, index); node !== null; node = node.parent) {
    const definition = node.startIndex === index ? definitionIn(node) : undefined
    if (definition !== undefined) return docstringSiteOf(definition)
  }
  return undefined
}

export function docstringSiteOf(definition: Node): DocstringSite | undefined {
  const body = definition.childForFieldName('body')
  if (body === null) return undefined
  const first = docstringOf(firstCodeIn(body))
  const whole = outermost(definition)
  const isEmpty = first !== undefined && docstringContent(first).trim() === ''
  return {
    kind: definition.type === 'class_definition' ? 'class' : 'function',
    definition,
    whole,
    body,
    docstring: isEmpty ? undefined : first,
    emptyDocstring: isEmpty ? first : undefined,
    decorators: decoratorsOf(definition, whole).map(({ text }) => text),
    setsDoc: definition.type === 'class_definition' && codeIn(body).some(namesDoc),
  }
}

/** Returns the text between a docstring's quotes, escapes as in the source. */
export function docstringContent(docstring: Node): string {
  const bare = (part: Node) => part.text.replace(/^[rRuU]*("""|'''|"|')/, '').replace(/("""|'''|"|')$/, '')
  return docstringParts(docstring).map(bare).join('')
}

function namesDoc(statement: Node): boolean {
  return statement.type === 'expression_statement' && /\b__doc__\b/.test(statement.text)
}

function definitionIn(node: Node): Node | undefined {
  if (node.type === 'decorated_definition') return node.childForFieldName('definition') ?? undefined
  const isDefinition = node.type === 'function_definition' || node.type === 'class_definition'
  return isDefinition ? node : undefined
}

export function outermost(definition: Node): Node {
  const parent = definition.parent
  return parent !== null && parent.type === 'decorated_definition' ? parent : definition
}

/** Returns the expressions after each `@`. */
export function decoratorsOf(definition: Node, owner = outermost(definition)): Node[] {
  return owner === definition ? [] : codeIn(owner).flatMap((child) => (child.type === 'decorator' ? codeIn(child) : []))
}
