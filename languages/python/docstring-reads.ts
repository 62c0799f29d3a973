import type { Node, Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { codeIn, nodeAround } from './python-nodes.ts'
import { nameAt, type Value } from './fact-nodes.ts'
import type { FoundDefinition } from './definition-facts.ts'
import type { NameResolver } from './imported-names.ts'

/**
 * Says where the repository itself reads a docstring. `class`: that of the class around the place and of its subclasses; `members`:
 * those of what it looks up by name in that class, or outside of one in the module; `name`: that of the definition with this name;
 * `values`: that of any value passed to the code; `all`: every one, by Sphinx.
 */
export const DocstringRead = z.strictObject({
  /** Counts from 1. */
  line: z.int(),
  of: z.enum(['class', 'members', 'name', 'values', 'all']),
  /** Names the class (empty for the module), the definition, or the setting that has all docstrings read. */
  name: z.string(),
})
export type DocstringRead = z.infer<typeof DocstringRead>

type DocstringUses = { reads: DocstringRead[]; setFor: Set<string> }

type Context = {
  tree: Tree
  source: string
  names: NameResolver
  definitions: readonly FoundDefinition[]
}

const mentions = /\b(?:__doc__|getdoc|getsource|getsourcelines|render_doc)\b/g
const readers = /^(?:(?:inspect|pydoc)\.)?(?:getdoc|getsource|getsourcelines|render_doc)$/

/** Finds where a file reads docstrings, and for which definitions it assigns them. Copying one is neither. */
export function docstringUses(context: Context): DocstringUses {
  const uses: DocstringUses = { reads: coverageReads(context.source), setFor: new Set() }
  for (const match of context.source.matchAll(mentions)) {
    const node = context.tree.rootNode.descendantForIndex(match.index, match.index + match[0].length)
    const object = node && subjectOf(node)
    if (!node || !object) continue
    const use = useOf(node)
    if (use === 'set') uses.setFor.add(lastName(object))
    else if (use === 'read') uses.reads.push(...readsAt(object, node, context))
  }
  return uses
}

/** Matches a setting with which Sphinx reports what has a docstring and is in no document, so that a new docstring fails the build. */
const coverageSetting = /^coverage_skip_undoc_in_source\s*=\s*True\b/m

function coverageReads(source: string): DocstringRead[] {
  const setting = coverageSetting.exec(source)
  if (setting === null) return []
  return [{ line: source.slice(0, setting.index).split('\n').length, of: 'all', name: 'coverage_skip_undoc_in_source' }]
}

/** Returns the object whose docstring a mention is about: of `x.__doc__`, `getattr(x, '__doc__')`, `inspect.getdoc(x)`. */
function subjectOf(node: Node): Node | undefined {
  const { parent } = node
  if (parent === null) return undefined
  if (node.type === 'identifier' && parent.type === 'attribute' && node.text === '__doc__') {
    return parent.childForFieldName('object') ?? undefined
  }
  const call = enclosingCall(node)
  const callee = call?.childForFieldName('function')
  const [first, second] = codeIn(call?.childForFieldName('arguments'))
  if (!callee || first === undefined) return undefined
  if (holds(callee, node)) return readers.test(callee.text) ? first : undefined
  const isAsked = second !== undefined && holds(second, node)
  if (callee.text.endsWith('.get') && first.text.includes('__doc__')) return callee
  return isAsked && callee.text === 'getattr' ? first : undefined
}

function enclosingCall(node: Node): Node | undefined {
  let at: Node | null = node
  for (let level = 0; level < 5 && at !== null; level++) {
    if (at.type === 'call') return at
    at = at.parent
  }
  return undefined
}

/** Tells whether a mention is assigned to or deleted (`set`), assigned to another `__doc__` (`copy`), or else read. */
function useOf(node: Node): 'set' | 'copy' | 'read' {
  const around = nodeAround(node, ['assignment', 'augmented_assignment', 'block', 'module', 'delete_statement'])
  if (around?.type === 'delete_statement') return 'set'
  const left = around?.childForFieldName('left')
  if (!left) return 'read'
  if (holds(left, node)) return 'set'
  return /(?:^|\.)__doc__$/.test(left.text) ? 'copy' : 'read'
}

function holds(outer: Node, inner: Node): boolean {
  return outer.startIndex <= inner.startIndex && inner.endIndex <= outer.endIndex
}

/** Matches code that gets at the members of its own class or module without naming them. */
const findsOwnMembers = {
  class:
    /\b(?:getmembers|getmembers_static|dir|vars|getattr)\((?:self|cls|type\(self\)|self\.__class__)(?![\w.])(?!,["']__doc__)|\b(?:self|cls|__class__)\.__dict__/,
  module: /\b(?:globals|vars|dir|locals)\(\)|\b(?:getmembers|getmembers_static|dir|vars|getattr)\(sys\.modules/,
}

function readsAt(object: Node, node: Node, { names, definitions }: Context): DocstringRead[] {
  const line = node.startPosition.row + 1
  const text = object.text.replace(/\s+/g, '')
  const around = definitions.filter(({ start, end }) => start <= node.startIndex && node.endIndex <= end)
  const owner = around.findLast(({ kind }) => kind === 'class')
  const isOwn = /^(?:self|cls|type\(self\)|self\.__class__)$/.test(text)
  if (isOwn && owner !== undefined) return [{ line, of: 'class', name: owner.name }]
  const last = lastName(object)
  const root = text.split(/[.([]/)[0] ?? ''
  const isDefined = definitions.some(({ name }) => name === last)
  const isFromModule = names.isImported(root) && root !== text
  const isNamed = /^[\w.]+$/.test(text) && (isDefined || isFromModule || names.isImported(text))
  if (isNamed) return [{ line, of: 'name', name: last }]
  const reader = around.findLast(({ kind }) => kind !== 'class')
  const search = owner === undefined ? findsOwnMembers.module : findsOwnMembers.class
  const isSearch = search.test((reader?.definition.text ?? text).replace(/\s+/g, ' ').replace(/([(,]) /g, '$1'))
  const members: DocstringRead[] = isSearch ? [{ line, of: 'members', name: owner?.name ?? '' }] : []
  return [...members, { line, of: 'values', name: text.slice(0, 60) }]
}

function lastName(object: Node): string {
  return object.text.match(/\w+/g)?.at(-1) ?? object.text
}

/** Matches functions that inspect their argument and do not keep it. */
const looksOnly =
  /^(?:isinstance|issubclass|super|len|str|repr|int|float|bool|print|id|hash|hasattr|cast|typing\.cast|type)$/

/**
 * Returns what a file passes on as values, not called: as argument or default, in a collection, returned, or stored. Bare names for which `isKnown`
 * holds, and `.price` for an attribute such as `shop.price`.
 */
export function namesAsValues(values: readonly Value[], source: string, isKnown: (name: string) => boolean): string[] {
  const names = new Set<string>()
  for (const value of values) {
    const { how, node, last } = value
    if (how === 'used') continue
    const name = nameAt(source, (last ?? node).startIndex)
    if (last === undefined && !isKnown(name)) continue
    const shown = last === undefined ? name : `.${name}`
    if (!names.has(shown) && !isLookedAtOnly(value)) names.add(shown)
  }
  return [...names]
}

function isLookedAtOnly({ how, node }: Value): boolean {
  if (how === 'other' || how === 'kept') return false
  let list = node.parent
  if (how === 'keyword_argument' || how === 'tuple') list = list?.parent ?? null
  if (how === 'keyword_argument' && list?.type === 'tuple') list = list.parent
  if (list?.type !== 'argument_list') return false
  const owner = list.parent
  if (owner?.type === 'class_definition') return true
  return looksOnly.test(owner?.childForFieldName('function')?.text ?? '')
}
