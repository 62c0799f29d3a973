import type { Node } from 'web-tree-sitter'
import { parametersOf } from '#languages/python/docstring-parameters.ts'
import { docstringContent, type DocstringSite } from '#languages/python/docstring-site.ts'

/** Returns what a model needs to describe a definition. Keys are snake_case, since tool scripts pass them on. */
export function describeDefinition(site: DocstringSite) {
  const { definition } = site
  const own = site.kind === 'function' ? ownNodes(site.body) : []
  return {
    name: definition.childForFieldName('name')?.text ?? '',
    kind: site.kind,
    has_docstring: site.docstring !== undefined || site.setsDoc,
    docstring: site.docstring === undefined ? null : docstringContent(site.docstring),
    parameters: site.kind === 'function' ? parametersOf(definition) : [],
    returns: definition.childForFieldName('return_type')?.text ?? null,
    returns_value: own.some((node) => node.type === 'return_statement' && node.namedChildCount > 0),
    yields: own.some((node) => node.type === 'yield'),
    raises: [...new Set(own.flatMap(raisedNames))],
    decorators: site.decorators,
    bases: (definition.childForFieldName('superclasses')?.namedChildren ?? []).map((base) => base?.text ?? ''),
  }
}

function raisedNames(node: Node): string[] {
  if (node.type !== 'raise_statement') return []
  const raised = node.namedChildren[0]
  const callee = raised?.type === 'call' ? raised.childForFieldName('function') : raised
  const name = callee?.text ?? ''
  // A lower-case name is a variable that holds an exception of unknown type.
  return /^([a-z_]\w*\.)*[A-Z]\w*$/.test(name) ? [name] : []
}

function ownNodes(body: Node): Node[] {
  const nodes: Node[] = []
  const open: Node[] = [body]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node)
    if (['function_definition', 'class_definition', 'lambda'].includes(node.type)) continue
    for (const child of node.namedChildren.toReversed()) if (child !== null) open.push(child)
  }
  return nodes
}
