import type { Node } from 'web-tree-sitter'
import { inProse } from '../comments/comment-text.ts'
import {
  childrenOf,
  type DefinitionReader,
  type DocumentedParameter,
  isComment,
  namedChildrenOf,
} from '../comments/definition.ts'

const functions = new Set(['function_item', 'function_signature_item'])
const types = new Set(['struct_item', 'enum_item', 'union_item', 'trait_item', 'type_item'])

/** A function, method or type of Rust; its attributes stand before it in the tree. */
export const readRustDefinition: DefinitionReader = (node) => {
  const isFunction = functions.has(node.type)
  if (!isFunction && !types.has(node.type)) return undefined
  const returns = node.childForFieldName('return_type')?.text ?? null
  return {
    name: node.childForFieldName('name')?.text ?? '',
    kind: isFunction ? 'function' : 'type',
    parameters: isFunction ? parametersOf(node) : [],
    typeParameters: [],
    returns,
    returnsValue: returns === null || /^(?:\(\)|!)$/.test(returns) ? 'no' : 'yes',
    yields: false,
    throws: [],
    visibility: isPublic(node) ? 'public' : 'private',
    exempt: exemptionOf(node),
  }
}

function parametersOf(node: Node): DocumentedParameter[] {
  return namedChildrenOf(node.childForFieldName('parameters')).flatMap((one) => {
    if (one.type !== 'parameter') return []
    const pattern = one.childForFieldName('pattern')
    const name = pattern?.type === 'identifier' ? pattern.text : undefined
    return [{ name, type: one.childForFieldName('type')?.text ?? null, default: null, isRest: false }]
  })
}

/** `pub` without a restriction, in modules that are so; what a trait declares is as public as the trait. */
function isPublic(node: Node): boolean {
  for (let one: Node | null = node; one !== null; one = one.parent) {
    if (one.id !== node.id && functions.has(one.type)) return false
    const isInTrait = one.parent?.parent?.type === 'trait_item'
    const needsMark = (functions.has(one.type) && !isInTrait) || types.has(one.type) || one.type === 'mod_item'
    if (needsMark && !childrenOf(one).some(({ type, text }) => type === 'visibility_modifier' && text === 'pub'))
      return false
  }
  return true
}

/** Attributes and derives that take no text from comments. */
const plainAttributes =
  /^(?:inline|must_use|cfg|cfg_attr|allow|warn|deny|forbid|expect|deprecated|repr|non_exhaustive|no_mangle|track_caller|cold|target_feature|automatically_derived|default|derive|serde|pin|async_trait|tracing::instrument|instrument|stable|unstable|rustc_\w+|doc)\b/
const plainDerives =
  /^(?:Debug|Clone|Copy|PartialEq|Eq|PartialOrd|Ord|Hash|Default|(?:serde::)?(?:Serialize|Deserialize)|Zeroize|ZeroizeOnDrop|Pod|Zeroable)$/

function exemptionOf(node: Node): string | undefined {
  const owner = node.parent?.parent
  if (owner?.type === 'impl_item' && owner.childForFieldName('trait') !== null)
    return 'needs no docstring: the trait that it implements describes it'
  if (childrenOf(node).some((one) => one.type === 'function_modifiers' && /\bunsafe\b/.test(one.text)))
    return 'is left alone: it is unsafe, and what its callers have to see to is not in its code'
  const attributes = attributesOf(node)
  if (attributes.some((text) => /^doc\b/.test(text))) return 'is left alone: an attribute says how it is documented'
  const derives = attributes.flatMap((text) => /^derive\s*\(([\s\S]*)\)$/.exec(text)?.[1]?.split(',') ?? [])
  const reader =
    attributes.find((text) => !plainAttributes.test(text)) ??
    derives.map((one) => one.trim()).find((one) => one !== '' && !plainDerives.test(one))
  return reader === undefined ? undefined : `is left alone: ${shown(reader)} may read its comment`
}

function shown(attribute: string): string {
  return (/^[\w:]+/.exec(attribute)?.[0] ?? attribute).slice(0, 40)
}

function attributesOf(node: Node): string[] {
  const found: string[] = []
  for (
    let one = node.previousSibling;
    one !== null && (one.type === 'attribute_item' || isComment(one));
    one = one.previousSibling
  ) {
    if (one.type === 'attribute_item')
      found.push(
        one.text
          .replace(/^#\s*\[\s*/, '')
          .replace(/\]$/, '')
          .trimEnd(),
      )
  }
  return found
}

const fence = /^(?:[ \t]*(?:>|[*+-](?=\s)|\d+[.)](?=\s)))*[ \t]*(?:`{3,}|~{3,})/
const plainFence = /^```(?:text|ignore|console|sh|bash|toml|json|txt|none)$/

/** Says why rustdoc would run a part of the text as a test: it runs all code whose fence names no other language. */
export function runByRustdoc(content: string): string | undefined {
  let isOpen = false
  let above = ''
  for (const line of content.split('\n')) {
    const isFence = fence.test(line)
    const isKnown = isOpen ? line.trimEnd() === '```' : plainFence.test(line)
    const isIndented = !isOpen && isCodeBelow(above, line)
    if ((isFence && !isKnown) || isIndented)
      return 'code in a comment is run as a test: leave it out, or begin it with ```text'
    if (isFence) isOpen = !isOpen
    above = line
  }
  return undefined
}

/** Code is indented by four, from the text of its item where it is in one, and cannot follow the text of a paragraph. */
function isCodeBelow(above: string, line: string): boolean {
  const endsParagraph = /^\s*(?:$|[#|<]|```|(?:[-*_=]\s*){3,}$)/.test(above)
  return (endsParagraph && /^ {4,}\S/.test(line)) || /^\s*(?:(?:[>*+-]|\d+[.)]) ?)+ {4,}\S/.test(line)
}

/** Brackets would be links, and elements HTML. */
export function rustForm(content: string): string {
  const plain = inProse(content, (prose) => prose.replaceAll(/(?<!\\)(?:[<>]|\[|\](?!\())/g, '\\$&'))
  return plain.replaceAll(/(?<![<(\\])\bhttps?:\/\/[^\s)>]*[^\s)>.,;]/g, '<$&>')
}
