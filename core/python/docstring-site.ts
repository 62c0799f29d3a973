import type { Node, Tree } from 'web-tree-sitter'
import { codeIn, docstringOf, docstringParts } from './docstring-expression.ts'

/** A definition in a parsed text, and where its docstring is or would go. */
export type DocstringSite = {
  kind: 'function' | 'class'
  definition: Node
  body: Node
  /** The docstring's expression, if there is one with something in it. */
  docstring: Node | undefined
  /** A first statement that is an empty string: replaced, not kept. */
  emptyDocstring: Node | undefined
  decorators: string[]
  /** A class whose own statements name `__doc__` (as a slot, or by assignment): a docstring beside it may break it. */
  setsDoc: boolean
}

/** The function or class that starts at `index` (UTF-16 units), decorators included; undefined if there is none. */
export function findDocstringSite(tree: Tree, index: number): DocstringSite | undefined {
  let node: Node | null = tree.rootNode.descendantForIndex(index, index)
  while (node !== null && !(node.startIndex === index && definitionIn(node) !== undefined)) node = node.parent
  const definition = node === null ? undefined : definitionIn(node)
  return definition === undefined ? undefined : docstringSiteOf(definition)
}

/** The docstring's site in a definition; undefined for one without a body. */
export function docstringSiteOf(definition: Node): DocstringSite | undefined {
  const body = definition.childForFieldName('body')
  if (body === null) return undefined
  const found = docstringOf(codeIn(body)[0])
  const isEmpty = found !== undefined && docstringContent(found).trim() === ''
  return {
    kind: definition.type === 'class_definition' ? 'class' : 'function',
    definition,
    body,
    docstring: isEmpty ? undefined : found,
    emptyDocstring: isEmpty ? found : undefined,
    decorators: decoratorsOf(definition),
    setsDoc: definition.type === 'class_definition' && codeIn(body).some(namesDoc),
  }
}

/** The text between a docstring's quotes, as it stands in the source. */
export function docstringContent(docstring: Node): string {
  const bare = (part: Node) => part.text.replace(/^[rRuU]*("""|'''|"|')/, '').replace(/("""|'''|"|')$/, '')
  return docstringParts(docstring).map(bare).join('')
}

function namesDoc(statement: Node): boolean {
  return statement.type === 'expression_statement' && /\b__doc__\b/.test(statement.text)
}

/** The definition that a node is, or that its decorators belong to. */
function definitionIn(node: Node): Node | undefined {
  if (node.type === 'decorated_definition') return node.childForFieldName('definition') ?? undefined
  const isDefinition = node.type === 'function_definition' || node.type === 'class_definition'
  return isDefinition ? node : undefined
}

/** The definition with its decorators. */
export function outermost(definition: Node): Node {
  const parent = definition.parent
  return parent !== null && parent.type === 'decorated_definition' ? parent : definition
}

function decoratorsOf(definition: Node): string[] {
  const owner = outermost(definition)
  const decorators = owner === definition ? [] : owner.namedChildren.filter((child) => child?.type === 'decorator')
  return decorators.map((decorator) => decorator?.text.slice(1).trim() ?? '')
}
