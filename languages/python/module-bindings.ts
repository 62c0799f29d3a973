import type { Node, Tree } from 'web-tree-sitter'
import { importedNames, importStatementTypes } from './imported-names.ts'
import { nodeAround, plainStringText } from './python-nodes.ts'

export type Binding = {
  /** Names the class whose body binds it, with the classes around it (`A.B`); empty for the module itself. */
  scope: string
  name: string
  kind: 'import' | 'function' | 'class' | 'variable'
  line: number
}

export type ModuleBindings = {
  bindings: Binding[]
  /** Has the names that `__all__` lists, wherever the module adds them; undefined when it has no `__all__`. */
  exported: string[] | undefined
}

type Step = { node: Node; scope: string }

/**
 * Returns what a module binds at its top level and in its classes, branches included. Names that functions bind are
 * left out unless declared `global`. `__future__` imports are left out too, since nothing uses the names they bind.
 */
export function moduleBindingsOf(tree: Tree): ModuleBindings {
  const bindings: Binding[] = []
  const exported: string[] = []
  let hasExports = false
  const steps: Step[] = [{ node: tree.rootNode, scope: '' }]
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { node, scope } = step
    bindings.push(...bindingsOf(node, scope))
    if (scope === '' && changesExports(node)) {
      hasExports = true
      exported.push(...node.descendantsOfType('string').flatMap((string) => plainStringText(string) ?? []))
    }
    const inner = node.type === 'class_definition' ? innerScope(scope, node) : scope
    for (const child of containers.has(node.type) ? node.namedChildren.toReversed() : [])
      steps.push({ node: child, scope: inner })
  }
  bindings.push(...globalsOf(tree), ...walrusTargets(tree))
  return { bindings, exported: hasExports ? exported : undefined }
}

const containers = new Set(
  (
    'module block decorated_definition class_definition if_statement elif_clause else_clause for_statement ' +
    'while_statement with_statement try_statement except_clause except_group_clause finally_clause ' +
    'match_statement case_clause ERROR'
  ).split(' '),
)

function bindingsOf(node: Node, scope: string): Binding[] {
  const line = node.startPosition.row + 1
  const variables = (targets: readonly (Node | null)[]): Binding[] =>
    targets.flatMap((target) => namesIn(target)).map((name) => ({ scope, name, kind: 'variable', line }))
  if (importStatementTypes.includes(node.type)) {
    const names = node.type === 'future_import_statement' ? [] : importedNames(node)
    return names.map(({ name, node: part }) => ({ scope, name, kind: 'import', line: part.startPosition.row + 1 }))
  }
  switch (node.type) {
    case 'function_definition':
    case 'class_definition': {
      const name = node.childForFieldName('name')?.text ?? ''
      return [{ scope, name, kind: node.type === 'class_definition' ? 'class' : 'function', line }]
    }
    case 'expression_statement':
      return variables(assignedIn(node))
    case 'type_alias_statement':
    case 'for_statement':
      return variables([node.childForFieldName('left')])
    case 'with_statement':
      return variables(
        node.descendantsOfType('as_pattern_target').filter((target) => target.parent?.parent?.type === 'with_item'),
      )
    default:
      return []
  }
}

/** Returns the targets of an assignment, both of `a = b = 1`. A bare annotation (`x: int`) binds nothing. */
function assignedIn(statement: Node): Node[] {
  const targets: Node[] = []
  let part = statement.namedChildren[0] ?? null
  while (part !== null && (part.type === 'assignment' || part.type === 'augmented_assignment')) {
    const target = part.childForFieldName('left')
    const value: Node | null = part.childForFieldName('right')
    if (target !== null && value !== null) targets.push(target)
    part = value
  }
  return targets
}

const patterns = new Set(
  (
    'pattern_list tuple_pattern list_pattern list_splat_pattern tuple list parenthesized_expression ' +
    'as_pattern_target expression_list type'
  ).split(' '),
)

function namesIn(target: Node | null): string[] {
  if (target === null) return []
  if (target.type === 'identifier') return [target.text]
  if (!patterns.has(target.type)) return []
  return target.namedChildren.flatMap((child) => namesIn(child))
}

function changesExports(node: Node): boolean {
  if (node.type !== 'expression_statement') return false
  const part = node.namedChildren[0]
  const owner = part?.type === 'call' ? part.childForFieldName('function')?.childForFieldName('object') : undefined
  return (owner ?? part?.childForFieldName('left'))?.text === '__all__'
}

function innerScope(scope: string, definition: Node): string {
  const name = definition.childForFieldName('name')?.text ?? ''
  return scope === '' ? name : `${scope}.${name}`
}

/** Finds the nodes of a type around what a pattern matches in the text, which is much faster than a search through the tree. */
function nodesAround({ rootNode }: Tree, pattern: RegExp, type: string): Node[] {
  return Array.from(rootNode.text.matchAll(pattern)).flatMap(({ index }) => {
    const around = rootNode.descendantForIndex(index, index)?.parent
    return around?.type === type ? around : []
  })
}

function globalsOf(tree: Tree): Binding[] {
  return nodesAround(tree, /\bglobal\b/g, 'global_statement').flatMap((statement) => {
    const names = statement.namedChildren.filter(({ type }) => type === 'identifier')
    const line = statement.startPosition.row + 1
    return names.map(({ text }): Binding => ({ scope: '', name: text, kind: 'variable', line }))
  })
}

const inner = ['function_definition', 'class_definition', 'lambda']

/** Finds `(name := value)` in a condition or comprehension of the module itself. */
function walrusTargets(tree: Tree): Binding[] {
  return nodesAround(tree, /:=/g, 'named_expression').flatMap((expression) => {
    const name = expression.childForFieldName('name')?.text
    const isOwn = nodeAround(expression, inner) === undefined
    if (name === undefined || !isOwn) return []
    return [{ scope: '', name, kind: 'variable', line: expression.startPosition.row + 1 }]
  })
}
