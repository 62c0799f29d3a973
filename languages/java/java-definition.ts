import type { Node } from 'web-tree-sitter'
import { inProse } from '../comments/comment-text.ts'
import {
  type DefinitionReader,
  type DocumentedParameter,
  isCaught,
  namedChildrenOf,
  ownNodes,
} from '../comments/definition.ts'

const types = new Set(
  'class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration'.split(' '),
)
const functions = new Set(['method_declaration', 'constructor_declaration', 'compact_constructor_declaration'])
const inner = new Set([...types, ...functions, 'lambda_expression', 'class_body'])

export const readJavaDefinition: DefinitionReader = (node) => {
  if (!types.has(node.type) && !functions.has(node.type)) return undefined
  const isFunction = functions.has(node.type)
  const body = node.childForFieldName('body')
  const own = isFunction && body !== null ? ownNodes(body, ({ type }) => inner.has(type)) : []
  const returns = node.childForFieldName('type')?.text ?? null
  const declared = node.children.filter(({ type }) => type === 'throws').flatMap(namedChildrenOf)
  return {
    name: node.childForFieldName('name')?.text ?? '',
    kind: isFunction ? 'function' : 'type',
    parameters: parametersOf(node.childForFieldName('parameters')),
    typeParameters: namedChildrenOf(node.childForFieldName('type_parameters')).map(
      (parameter) => namedChildrenOf(parameter).find(({ type }) => type === 'type_identifier')?.text ?? '',
    ),
    returns,
    returnsValue: returns === null || returns === 'void' ? 'no' : 'yes',
    yields: false,
    throws: [...new Set([...declared.map(({ text }) => text), ...own.flatMap(thrownNames)])],
    visibility: isPublic(node) ? 'public' : 'private',
    exempt: exemptionOf(node),
  }
}

function parametersOf(list: Node | null): DocumentedParameter[] {
  return namedChildrenOf(list).flatMap((node) => {
    if (node.type !== 'formal_parameter' && node.type !== 'spread_parameter') return []
    const isRest = node.type === 'spread_parameter'
    const named = node.childForFieldName('name') ?? namedChildrenOf(node).at(-1)?.childForFieldName('name')
    const type = node.childForFieldName('type')?.text ?? null
    return named ? [{ name: named.text, type, default: null, isRest }] : []
  })
}

function thrownNames(node: Node): string[] {
  if (node.type !== 'throw_statement') return []
  const name = namedChildrenOf(node)[0]?.childForFieldName('type')?.text ?? ''
  return /^[\w.]+$/.test(name) && !isCaught(node, ({ type }) => functions.has(type)) ? [name] : []
}

function modifiersOf(node: Node): Node[] {
  return node.children.filter(({ type }) => type === 'modifiers').flatMap(({ children }) => children)
}

/** Is true when it is `public` or `protected`, in types that are; what an interface has is public. */
function isPublic(definition: Node): boolean {
  for (let node: Node | null = definition; node !== null; node = node.parent) {
    const isOuter = node.id !== definition.id
    if (isOuter && (functions.has(node.type) || node.type === 'lambda_expression')) return false
    if (!types.has(node.type) && !functions.has(node.type)) continue
    const words = modifiersOf(node).map(({ type }) => type)
    const isInInterface = /^(?:interface|annotation_type)_body$/.test(node.parent?.type ?? '')
    const isMarked = words.includes('public') || words.includes('protected')
    if (words.includes('private') || (!isMarked && !isInInterface)) return false
  }
  return true
}

function exemptionOf(node: Node): string | undefined {
  const annotations = modifiersOf(node).filter(({ type }) => type.endsWith('annotation'))
  const isOverride = annotations.some((annotation) => annotation.childForFieldName('name')?.text === 'Override')
  if (isOverride) return 'needs no docstring: it inherits that of the method it overrides'
  return node.type.startsWith('compact') ? 'needs no docstring: its record describes it' : undefined
}

export function javaFault(content: string): string | undefined {
  if (/^\s*```/m.test(content)) return 'there is no fenced code in Javadoc: describe it in sentences'
  const [tag] = /\{@(?!code\b|literal\b|link(?:plain)?\b)\w*/.exec(content) ?? []
  return tag === undefined ? undefined : `the inline tag ${tag}} is not to be written: only {@code …}`
}

/** Writes text as HTML has it; names as code, since a link to what there is not is an error; a mark before each further paragraph. */
export function javaForm(content: string): string {
  const coded = content
    .replaceAll(/`([^`\n{}]+)`/g, '{@code $1}')
    .replaceAll(/\{@link(?:plain)?\s+([^{}\n]+)\}/g, '{@code $1}')
  const plain = inProse(coded, (prose) =>
    prose
      .replaceAll(/&(?!\w+;)/g, '&amp;')
      .replaceAll(/(<\/?(?:p|ul|ol|li|pre|code|em|b|i|strong)>|@param <\w+>)|[<>]/g, (mark, kept?: string) => {
        return kept ?? (mark === '<' ? '&lt;' : '&gt;')
      }),
  )
  return plain.replaceAll(/\n\n(?=[^\s@<*-])/g, '\n\n<p>')
}
