import type { Node } from 'web-tree-sitter'
import { inProse } from '../comments/comment-text.ts'
import { type DefinitionReader, type DocumentedParameter, isComment, namedChildrenOf } from '../comments/definition.ts'

const functions = new Set(['function_item', 'function_signature_item'])
const types = new Set(['struct_item', 'enum_item', 'union_item', 'trait_item', 'type_item'])

/** Reads a function, method or type of Rust; its attributes stand before it in the tree. */
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
  return namedChildrenOf(node.childForFieldName('parameters')).flatMap((parameter) => {
    if (parameter.type !== 'parameter') return []
    const pattern = parameter.childForFieldName('pattern')
    const name = pattern?.type === 'identifier' ? pattern.text : undefined
    return [{ name, type: parameter.childForFieldName('type')?.text ?? null, default: null, isRest: false }]
  })
}

/** Is true for `pub` without a restriction, in modules that are so; what a trait declares is as public as the trait. */
function isPublic(definition: Node): boolean {
  for (let node: Node | null = definition; node !== null; node = node.parent) {
    if (node.id !== definition.id && functions.has(node.type)) return false
    const isInTrait = node.parent?.parent?.type === 'trait_item'
    const needsMark = (functions.has(node.type) && !isInTrait) || types.has(node.type) || node.type === 'mod_item'
    const isMarked = node.children.some(({ type, text }) => type === 'visibility_modifier' && text === 'pub')
    if (needsMark && !isMarked) return false
  }
  return true
}

/** Matches attributes that take no text from comments; below it, derives. */
const plainAttributes =
  /^(?:inline|must_use|cfg|cfg_attr|allow|warn|deny|forbid|expect|deprecated|repr|non_exhaustive|no_mangle|track_caller|cold|target_feature|automatically_derived|default|derive|serde|pin|async_trait|tracing::instrument|instrument|stable|unstable|rustc_\w+|doc)\b/
const plainDerives =
  /^(?:Debug|Clone|Copy|PartialEq|Eq|PartialOrd|Ord|Hash|Default|(?:serde::)?(?:Serialize|Deserialize)|Zeroize|ZeroizeOnDrop|Pod|Zeroable)$/

function exemptionOf(node: Node): string | undefined {
  const owner = node.parent?.parent
  if (owner?.type === 'impl_item' && owner.childForFieldName('trait') !== null)
    return 'needs no docstring: the trait that it implements describes it'
  if (node.children.some(({ type, text }) => type === 'function_modifiers' && /\bunsafe\b/.test(text)))
    return 'is left alone: it is unsafe, and what its callers have to see to is not in its code'
  const attributes = attributesOf(node)
  if (attributes.some((text) => /^doc\b/.test(text))) return 'is left alone: an attribute says how it is documented'
  const derives = attributes.flatMap((text) => /^derive\s*\(([\s\S]*)\)$/.exec(text)?.[1]?.split(',') ?? [])
  const reader =
    attributes.find((text) => !plainAttributes.test(text)) ??
    derives.map((derive) => derive.trim()).find((derive) => derive !== '' && !plainDerives.test(derive))
  return reader === undefined ? undefined : `is left alone: ${shown(reader)} may read its comment`
}

function shown(attribute: string): string {
  return (/^[\w:]+/.exec(attribute)?.[0] ?? attribute).slice(0, 40)
}

function attributesOf(node: Node): string[] {
  const attributes: string[] = []
  for (let above = node.previousSibling; above !== null; above = above.previousSibling) {
    if (above.type === 'attribute_item')
      attributes.push(
        above.text
          .replace(/^#\s*\[\s*/, '')
          .replace(/\]$/, '')
          .trimEnd(),
      )
    else if (!isComment(above)) break
  }
  return attributes
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

/** Is true for a line that is indented by four, from the text of its item where it is in one, and follows no text of a paragraph. */
function isCodeBelow(above: string, line: string): boolean {
  const endsParagraph = /^\s*(?:$|[#|<]|```|(?:[-*_=]\s*){3,}$)/.test(above)
  return (endsParagraph && /^ {4,}\S/.test(line)) || /^\s*(?:(?:[>*+-]|\d+[.)]) ?)+ {4,}\S/.test(line)
}

/** Escapes brackets, which would be links, and elements, which would be HTML. */
export function rustForm(content: string): string {
  const plain = inProse(content, (prose) => prose.replaceAll(/(?<!\\)(?:[<>]|\[|\](?!\())/g, '\\$&'))
  return plain.replaceAll(/(?<![<(\\])\bhttps?:\/\/[^\s)>]*[^\s)>.,;]/g, '<$&>')
}
