import type { Node } from 'web-tree-sitter'
import {
  type DefinitionPlace,
  type DefinitionReader,
  type DocumentedParameter,
  namedChildrenOf,
} from '../comments/definition.ts'

/** Reads a function, method or type of Go. A declaration of one type is that type's node. */
export const readGoDefinition: DefinitionReader = (node, { source, top }) => {
  const isFunction = node.type === 'function_declaration' || node.type === 'method_declaration'
  const specs = node.type === 'type_declaration' ? namedChildrenOf(node) : [node]
  const [value] = specs
  const isType = specs.length === 1 && (value?.type === 'type_spec' || value?.type === 'type_alias')
  if (value === undefined || !(isFunction || isType)) return undefined
  const name = value.childForFieldName('name')?.text ?? ''
  const result = value.childForFieldName('result')
  return {
    name,
    kind: isFunction ? 'function' : 'type',
    parameters: isFunction ? parametersOf(value.childForFieldName('parameters')) : [],
    typeParameters: [],
    returns: isFunction ? (result?.text ?? null) : null,
    returnsValue: isFunction && result !== null ? 'yes' : 'no',
    yields: false,
    throws: [],
    visibility: isExported(value, name, source) ? 'public' : 'private',
    exempt: isBelowFunction(node, { source, top })
      ? 'is left alone: no blank line sets it apart from the function above'
      : undefined,
  }
}

/** gofmt would put a blank line between the two, once there is a comment. */
function isBelowFunction(node: Node, { source, top }: Pick<DefinitionPlace, 'source' | 'top'>): boolean {
  let above = node.previousNamedSibling
  while (above !== null && above.startIndex >= top) above = above.previousNamedSibling
  if (above === null || !/^(?:function|method)_declaration$/.test(above.type)) return false
  return source.slice(above.endIndex, top).split('\n').length === 2
}

function parametersOf(list: Node | null): DocumentedParameter[] {
  return namedChildrenOf(list).flatMap((node) => {
    const type = node.childForFieldName('type')?.text ?? null
    const isRest = node.type.startsWith('variadic')
    const names = node.childrenForFieldName('name')
    return names.map(({ text }) => ({ name: text === '_' ? undefined : text, type, default: null, isRest }))
  })
}

/** Tells whether others can use it: nothing in a program (`package main`) or within a function; a method only with its type. */
function isExported(value: Node, name: string, source: string): boolean {
  const receiver = namedChildrenOf(value.childForFieldName('receiver'))[0]
  const owner = /[\p{L}\w]+/u.exec(receiver?.childForFieldName('type')?.text ?? '')?.[0]
  const isUpper = (word: string) => /^\p{Lu}/u.test(word)
  for (let node = value.parent; node !== null; node = node.parent) {
    if (/^(?:function|method)_declaration$|^func_literal$/.test(node.type)) return false
  }
  return isUpper(name) && (owner === undefined || isUpper(owner)) && !/^package main\b/m.test(source)
}

/** Matches gofmt's directives: `//go:noinline`, `//sumtype:decl`, `//nolint:all`, `//export F`. They stand below a doc comment's text. */
export const goDirective = /^\/\/(?:[a-z0-9]+:[a-z0-9]|(?:line|extern|export) )/

/** Is true when only directives stand between an index and the definition: then the doc comment begins at the index. */
export function isOfGoDirectives(text: string): boolean {
  const lines = text.split(/\r?\n/).map((line) => line.trimStart())
  return lines.at(-1) === '' && lines.slice(0, -1).every((line) => goDirective.test(line))
}

/** Go's tools expect a comment to begin with the name of what it is about. */
export function goFault(content: string, name: string): string | undefined {
  const [first = '', second = ''] = content.split(/\s+/, 2).map((word) => word.replace(/[.,:;'’`]+s?$/, ''))
  const isNamed = first === name || (/^(?:An?|The)$/.test(first) && second === name)
  if (!isNamed) return `the docstring must begin with the name: "${name} …"`
  if (/^\s*```/m.test(content)) return 'there is no fenced code in comments of Go: describe it in sentences'
  return undefined
}

export function goForm(content: string): string {
  return content.replaceAll(/^[-*+•][ \t]+/gm, '  - ')
}
