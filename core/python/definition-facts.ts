import { z } from 'zod'
import type { Node } from 'web-tree-sitter'
import { exemptionOf, isInRow } from './docstring-exemption.ts'
import { codeIn } from './docstring-expression.ts'
import { docstringContent, docstringSiteOf, outermost, type DocstringSite } from './docstring-site.ts'
import { dottedName, type ImportedNames } from './imported-names.ts'

/** A function, method or class of a file, as far as its docstring is concerned. */
export const DefinitionDocFacts = z.strictObject({
  kind: z.enum(['function', 'method', 'class']),
  name: z.string(),
  qualifiedName: z.string(),
  /** Where it starts in the file as it is stored (UTF-8), decorators included: as its code node does. */
  startByte: z.int().min(0),
  endByte: z.int().min(0),
  hasDocstring: z.boolean(),
  /** Its docstring says more than a first line. */
  hasLongDocstring: z.literal(true).optional(),
  /**
   * `private`: a name with a leading underscore, of it or of what it lies in, modules and packages included; a name that the
   * module's `__all__` leaves out; a special method (`__init__`); and whatever lies inside of a function, or of what runs
   * only when the module is the program.
   */
  visibility: z.enum(['public', 'private']),
  /** Why it gets no docstring, where the file alone says so, in words that follow its name. */
  exempt: z.string().optional(),
  /** It is one of several one-line definitions without blank lines between them. */
  isInRow: z.literal(true).optional(),
  /** What decorates it, and what a class inherits from, by their dotted names (`ImportedNames.resolve`). */
  decorators: z.array(z.string()),
  bases: z.array(z.string()),
})
export type DefinitionDocFacts = z.infer<typeof DefinitionDocFacts>

/** A definition in a tree, with all that its facts are derived from. */
export type FoundDefinition = {
  definition: Node
  site: DocstringSite
  kind: DefinitionDocFacts['kind']
  name: string
  qualifiedName: string
  start: number
  end: number
  /** The definitions around it, the outermost first. */
  around: FoundDefinition[]
}

export type ModuleFacts = {
  path: string
  names: ImportedNames
  /** What `__all__` lists; undefined where the module has none that can be read. */
  exported: ReadonlySet<string> | undefined
  /** Names of definitions whose `__doc__` the file assigns. */
  docSetFor: ReadonlySet<string>
  /** Kinds of definitions that a comment for the whole file excuses from docstrings. */
  waived: readonly DefinitionDocFacts['kind'][]
}

/** The definitions with a name and a body, from their nodes in the order they stand in the file. */
export function foundDefinitions(nodes: readonly Node[]): FoundDefinition[] {
  const found: FoundDefinition[] = []
  const open: FoundDefinition[] = []
  for (const definition of nodes) {
    const name = definition.childForFieldName('name')?.text ?? ''
    const site = docstringSiteOf(definition)
    if (name === '' || site === undefined) continue
    const { startIndex: start, endIndex: end } = outermost(definition)
    while ((open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= start) open.pop()
    const outer = open.at(-1)
    const kind = site.kind === 'class' ? 'class' : outer?.kind === 'class' ? 'method' : 'function'
    const qualifiedName = outer === undefined ? name : `${outer.qualifiedName}.${name}`
    const one: FoundDefinition = { definition, site, kind, name, qualifiedName, start, end, around: [...open] }
    found.push(one)
    open.push(one)
  }
  return found
}

/** All but its place in bytes. */
export function factsOf(
  found: FoundDefinition,
  module: ModuleFacts,
): Omit<DefinitionDocFacts, 'startByte' | 'endByte'> {
  const { kind, name, qualifiedName, site } = found
  const exempt = exemptionIn(found, module)
  return {
    kind,
    name,
    qualifiedName,
    hasDocstring: site.docstring !== undefined,
    ...(isLong(site) ? { hasLongDocstring: true as const } : {}),
    visibility: isPublic(found, module) ? 'public' : 'private',
    ...(exempt === undefined ? {} : { exempt }),
    ...(isInRow(site) ? { isInRow: true as const } : {}),
    decorators: decoratorsOf(found, module),
    bases: basesOf(found, module),
  }
}

function isLong({ docstring }: DocstringSite): boolean {
  return docstring !== undefined && docstringContent(docstring).trim().includes('\n')
}

function isPublic({ definition, name, around }: FoundDefinition, { path, exported }: ModuleFacts): boolean {
  const [outermostOne] = around
  const isInFunction = around.some((one) => one.kind !== 'class')
  const names = [...around.map((one) => one.name), name]
  const isHidden = names.some((part) => part.startsWith('_'))
  const isExported = exported === undefined || exported.has(outermostOne?.name ?? name)
  return !isHidden && !isInFunction && isExported && isPublicModule(path) && !isInMain(definition)
}

const mainCondition = /^\(?\s*(?:__name__\s*==\s*["']__main__|["']__main__["']\s*==\s*__name__)/

/** Whether it stands under `if __name__ == "__main__":`. */
function isInMain(definition: Node): boolean {
  for (let node = definition.parent; node !== null; node = node.parent) {
    if (node.type === 'if_statement' && mainCondition.test(node.childForFieldName('condition')?.text ?? '')) return true
  }
  return false
}

/** As pydocstyle and Ruff see it: no part of the module's path begins with an underscore, but for `__init__` and its like. */
function isPublicModule(path: string): boolean {
  const parts = path.replace(/\.pyi?$/, '').split('/')
  return parts.every((part) => !part.startsWith('_') || /^__\w+__$/.test(part))
}

function exemptionIn(found: FoundDefinition, module: ModuleFacts): string | undefined {
  if (module.path.endsWith('.pyi')) return 'needs no docstring: it is in a stub file'
  if (module.waived.includes(found.kind)) return 'is left alone: a comment in its file says that it needs none'
  if (module.docSetFor.has(found.name)) return 'is left alone: its __doc__ is set by the code'
  if (isGivenFunction(found, module))
    return 'is left alone: its decorator may give it the docstring of another function'
  return exemptionOf(found.site)
}

/** Whether a decorator is called with a function of the repository, as Jinja's `@async_variant(sync_do_first)` is. */
function isGivenFunction({ definition }: FoundDefinition, { names }: ModuleFacts): boolean {
  const owner = outermost(definition)
  if (owner === definition) return false
  const expressions = owner.namedChildren.flatMap((child) => (child?.type === 'decorator' ? codeIn(child) : []))
  const given = expressions.flatMap((one) => one.childForFieldName('arguments')?.namedChildren ?? [])
  return given.some((one) => one?.type === 'identifier' && /^_?[a-z]/.test(one.text) && isOwn(names.resolve(one.text)))
}

function isOwn(resolved: string): boolean {
  return resolved.startsWith('.')
}

function decoratorsOf({ definition }: FoundDefinition, { names }: ModuleFacts): string[] {
  const owner = outermost(definition)
  if (owner === definition) return []
  const decorators = owner.namedChildren.filter((child) => child?.type === 'decorator')
  return decorators.map((decorator) => {
    const expression = decorator === null ? undefined : codeIn(decorator)[0]
    const name = expression === undefined ? undefined : dottedName(expression)
    return name === undefined ? `?${expression?.text.slice(0, 60) ?? ''}` : names.resolve(name)
  })
}

/** Also the metaclass, which makes a class as a base does. */
function basesOf({ definition }: FoundDefinition, { names }: ModuleFacts): string[] {
  const list = definition.type === 'class_definition' ? definition.childForFieldName('superclasses') : null
  return (list === null ? [] : codeIn(list)).flatMap((argument) => {
    const isMetaclass = argument.childForFieldName('name')?.text === 'metaclass'
    const expression = isMetaclass ? argument.childForFieldName('value') : argument
    const name = expression === null || expression === undefined ? undefined : dottedName(expression)
    return name === undefined ? [] : [names.resolve(name)]
  })
}
