import { z } from 'zod'
import type { Node, Tree } from 'web-tree-sitter'
import { codeIn } from './docstring-expression.ts'
import type { FoundDefinition } from './definition-facts.ts'
import type { ImportedNames } from './imported-names.ts'

/**
 * A read of a docstring by the repository itself. `class`: of the class it stands in and of those that inherit from it;
 * `members`: of what is found in that class by its name, or in the module where no class is around; `name`: of what has
 * that name; `values`: of whatever the code is given; `all`: of everything, by the build of the documentation.
 */
export const DocstringRead = z.strictObject({
  line: z.int().min(1),
  of: z.enum(['class', 'members', 'name', 'values', 'all']),
  /** The name of the class, empty for the module; or of what is read, or of the setting that has it read. */
  name: z.string(),
})
export type DocstringRead = z.infer<typeof DocstringRead>

export type DocstringUses = { reads: DocstringRead[]; setFor: Set<string> }

type Context = {
  tree: Tree
  source: string
  names: ImportedNames
  definitions: readonly FoundDefinition[]
}

const mentions = /\b(?:__doc__|getdoc|getsource|getsourcelines|render_doc)\b/g
const readers = /^(?:(?:inspect|pydoc)\.)?(?:getdoc|getsource|getsourcelines|render_doc)$/

/** Where a file reads docstrings, and of which definitions it assigns them. To copy one from an object to another is neither. */
export function docstringUses(context: Context): DocstringUses {
  const uses: DocstringUses = { reads: coverageReads(context.source), setFor: new Set() }
  for (const match of context.source.matchAll(mentions)) {
    const node = context.tree.rootNode.descendantForIndex(match.index, match.index + match[0].length)
    const object = node === null ? undefined : subjectOf(node)
    if (node === null || object === undefined) continue
    const place = placeOf(node)
    if (place.left !== undefined) uses.setFor.add(lastName(object))
    else if (!place.isCopy) uses.reads.push(...readsAt(object, node, context))
  }
  return uses
}

/** Sphinx then counts whatever has a docstring, and stands in no document, as undocumented: a new one fails such a build. */
const coverageSetting = /^coverage_skip_undoc_in_source\s*=\s*True\b/m

function coverageReads(source: string): DocstringRead[] {
  const found = coverageSetting.exec(source)
  if (found === null) return []
  return [{ line: source.slice(0, found.index).split('\n').length, of: 'all', name: 'coverage_skip_undoc_in_source' }]
}

/** The object whose docstring a mention is about: of `x.__doc__`, `getattr(x, '__doc__')`, `inspect.getdoc(x)`. */
function subjectOf(node: Node): Node | undefined {
  const { parent } = node
  if (parent === null) return undefined
  if (node.type === 'identifier' && parent.type === 'attribute' && node.text === '__doc__') {
    return parent.childForFieldName('object') ?? undefined
  }
  const call = enclosingCall(node)
  const callee = call?.childForFieldName('function')
  const list = call?.childForFieldName('arguments')
  const [first, second] = list === null || list === undefined ? [] : codeIn(list)
  if (callee === null || callee === undefined || first === undefined) return undefined
  const isCallee = callee.startIndex <= node.startIndex && node.endIndex <= callee.endIndex
  if (isCallee) return readers.test(callee.text) ? first : undefined
  const isAsked = second !== undefined && second.startIndex <= node.startIndex && node.endIndex <= second.endIndex
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

/** Whether a mention is assigned to, or is what another `__doc__` gets. */
function placeOf(node: Node): { left?: Node; isCopy: boolean } {
  let at: Node | null = node
  while (
    at !== null &&
    !['assignment', 'augmented_assignment', 'block', 'module', 'delete_statement'].includes(at.type)
  ) {
    at = at.parent
  }
  if (at?.type === 'delete_statement') return { left: at, isCopy: false }
  const left = at?.childForFieldName('left')
  if (left === null || left === undefined) return { isCopy: false }
  if (left.startIndex <= node.startIndex && node.endIndex <= left.endIndex) return { left, isCopy: false }
  return { isCopy: /(?:^|\.)__doc__$/.test(left.text) }
}

/** How code comes by the members of its own class, or of its own module, without naming them. */
const findsOwnMembers = {
  class:
    /\b(?:getmembers|getmembers_static|dir|vars|getattr)\((?:self|cls|type\(self\)|self\.__class__)(?![\w.])(?!,["']__doc__)|\b(?:self|cls|__class__)\.__dict__/,
  module: /\b(?:globals|vars|dir|locals)\(\)|\b(?:getmembers|getmembers_static|dir|vars|getattr)\(sys\.modules/,
}

function readsAt(object: Node, node: Node, { names, definitions }: Context): DocstringRead[] {
  const line = node.startPosition.row + 1
  const text = object.text.replace(/\s+/g, '')
  const around = definitions.filter((one) => one.start <= node.startIndex && node.endIndex <= one.end)
  const owner = around.findLast((one) => one.kind === 'class')
  const isOwn = /^(?:self|cls|type\(self\)|self\.__class__)$/.test(text)
  if (isOwn && owner !== undefined) return [{ line, of: 'class', name: owner.name }]
  const last = lastName(object)
  const root = text.split(/[.([]/)[0] ?? ''
  const isDefined = definitions.some((one) => one.name === last)
  const isFromModule = names.isImported(root) && root !== text
  const isNamed = /^[\w.]+$/.test(text) && (isDefined || isFromModule || names.isImported(text))
  if (isNamed) return [{ line, of: 'name', name: last }]
  const reader = around.findLast((one) => one.kind !== 'class')
  const search = owner === undefined ? findsOwnMembers.module : findsOwnMembers.class
  const isSearch = search.test((reader?.definition.text ?? text).replace(/\s+/g, ' ').replace(/([(,]) /g, '$1'))
  const members: DocstringRead[] = isSearch ? [{ line, of: 'members', name: owner?.name ?? '' }] : []
  return [...members, { line, of: 'values', name: text.slice(0, 60) }]
}

function lastName(object: Node): string {
  return /(\w+)\W*$/.exec(object.text)?.[1] ?? object.text
}
