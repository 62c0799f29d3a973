import type { Node } from 'web-tree-sitter'
import type { TextStyle } from '#domain/path-rules.ts'
import { docstringContent, type DocstringSite } from '#python/docstring-site.ts'
import { docstringRoom } from './docstring-text.ts'
import { docstringIndent, indentationAt } from './insert-docstring.ts'

type ParameterFacts = {
  name: string
  annotation: string | null
  default: string | null
  kind: 'positional' | 'keyword' | 'var_positional' | 'var_keyword'
}

/** How the repository writes docstrings: the style, and the characters available on a line. */
export function docstringForm(site: DocstringSite, source: string, text: TextStyle) {
  const indent = docstringIndent(site, source, text)
  const room = docstringRoom(indent, text)
  return {
    style: text.docstringStyle,
    /** Whether sections name the types of parameters and results. */
    types: text.docstringTypes ?? true,
    summary_characters: room.single,
    line_characters: room.line,
    /** One level of indentation, as used in sections. */
    indent: indent.slice(indentationAt(source, site.definition.startIndex).length) || '    ',
  }
}

/** What a model needs to describe a definition. Keys are snake_case, since tool scripts pass them on. */
export function describeDefinition(site: DocstringSite) {
  const { definition } = site
  const own = site.kind === 'function' ? ownNodes(site.body) : []
  return {
    name: definition.childForFieldName('name')?.text ?? '',
    kind: site.kind,
    has_docstring: site.docstring !== undefined || site.setsDoc,
    docstring: site.docstring === undefined ? null : docstringContent(site.docstring),
    parameters: parametersOf(definition.childForFieldName('parameters')),
    returns: definition.childForFieldName('return_type')?.text ?? null,
    returns_value: own.some((node) => node.type === 'return_statement' && node.namedChildCount > 0),
    yields: own.some((node) => node.type === 'yield'),
    raises: [...new Set(own.flatMap(raisedNames))],
    decorators: site.decorators,
    bases: (definition.childForFieldName('superclasses')?.namedChildren ?? []).map((base) => base?.text ?? ''),
  }
}

function parametersOf(list: Node | null): ParameterFacts[] {
  const facts: ParameterFacts[] = []
  let keywordOnly = false
  for (const node of list?.namedChildren ?? []) {
    if (node === null) continue
    if (node.type === 'keyword_separator') keywordOnly = true
    const fact = parameterFacts(node, keywordOnly)
    if (fact === undefined) continue
    if (fact.kind === 'var_positional') keywordOnly = true
    facts.push(fact)
  }
  const [first, ...rest] = facts
  return first !== undefined && ['self', 'cls'].includes(first.name) && first.annotation === null ? rest : facts
}

function parameterFacts(node: Node, keywordOnly: boolean): ParameterFacts | undefined {
  const kind = keywordOnly ? 'keyword' : 'positional'
  const annotation = node.childForFieldName('type')?.text ?? null
  const value = node.childForFieldName('value')?.text ?? null
  switch (node.type) {
    case 'identifier':
      return { name: node.text, annotation, default: null, kind }
    case 'default_parameter':
    case 'typed_default_parameter':
      return { name: node.childForFieldName('name')?.text ?? '', annotation, default: value, kind }
    case 'typed_parameter': {
      const [inner] = node.namedChildren
      const fact = inner ? parameterFacts(inner, keywordOnly) : undefined
      return fact && { ...fact, annotation }
    }
    case 'list_splat_pattern':
      return { name: node.text.slice(1), annotation, default: null, kind: 'var_positional' }
    case 'dictionary_splat_pattern':
      return { name: node.text.slice(2), annotation, default: null, kind: 'var_keyword' }
    default:
      return undefined
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
  const found: Node[] = []
  const open: Node[] = [body]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    found.push(node)
    if (['function_definition', 'class_definition', 'lambda'].includes(node.type)) continue
    for (const child of node.namedChildren.toReversed()) if (child !== null) open.push(child)
  }
  return found
}
