import type { Node } from 'web-tree-sitter'
import { z } from 'zod'
import { exemptionOf, isInRow } from './docstring-exemption.ts'
import { codeIn } from './python-nodes.ts'
import { decoratorsOf, docstringSiteOf, type DocstringSite } from './docstring-site.ts'
import { dottedName, type NameResolver } from './imported-names.ts'

export const DefinitionDocFacts = z.strictObject({
  kind: z.enum(['function', 'method', 'class']),
  name: z.string(),
  qualifiedName: z.string(),
  /** Offsets in the stored file (UTF-8), decorators included: the same as those of its code node. */
  startByte: z.int(),
  endByte: z.int(),
  hasDocstring: z.boolean(),
  /**
   * `private`: its name, or that of a class, module or package around it, begins with an underscore (`__init__`, too);
   * `__all__` leaves it out; or it is inside a function or under `if __name__ == "__main__"`.
   */
  visibility: z.enum(['public', 'private']),
  /** Says why it gets no docstring, as far as the file alone shows it, in words that follow its name. */
  exempt: z.string().optional(),
  /** Is set for one of several one-line definitions without blank lines between them. */
  isInRow: z.literal(true).optional(),
  /** Its decorators, and the bases of a class, as dotted names (`NameResolver.resolve`). */
  decorators: z.array(z.string()),
  bases: z.array(z.string()),
})
export type DefinitionDocFacts = z.infer<typeof DefinitionDocFacts>

export type FoundDefinition = {
  definition: Node
  site: DocstringSite
  kind: DefinitionDocFacts['kind']
  name: string
  qualifiedName: string
  start: number
  end: number
  around: FoundDefinition[]
}

export type ModuleFacts = {
  names: NameResolver
  exported: ReadonlySet<string> | undefined
  docSetFor: ReadonlySet<string>
  waived: readonly DefinitionDocFacts['kind'][]
}

/** Finds the definitions with a name and a body. `nodes` are in the order of the file. */
export function foundDefinitions(nodes: readonly Node[]): FoundDefinition[] {
  const definitions: FoundDefinition[] = []
  const open: FoundDefinition[] = []
  for (const definition of nodes) {
    const name = definition.childForFieldName('name')?.text ?? ''
    const site = docstringSiteOf(definition)
    if (name === '' || site === undefined) continue
    const { startIndex: start, endIndex: end } = site.whole
    while ((open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= start) open.pop()
    const outer = open.at(-1)
    const kind = site.kind === 'class' ? 'class' : outer?.kind === 'class' ? 'method' : 'function'
    const qualifiedName = outer === undefined ? name : `${outer.qualifiedName}.${name}`
    const inner: FoundDefinition = { definition, site, kind, name, qualifiedName, start, end, around: [...open] }
    definitions.push(inner)
    open.push(inner)
  }
  return definitions
}

export function factsOf(
  definition: FoundDefinition,
  module: ModuleFacts,
): Omit<DefinitionDocFacts, 'startByte' | 'endByte'> {
  const { kind, name, qualifiedName, site } = definition
  const exempt = exemptionIn(definition, module)
  return {
    kind,
    name,
    qualifiedName,
    hasDocstring: site.docstring !== undefined,
    visibility: isPublic(definition, module) ? 'public' : 'private',
    ...(exempt === undefined ? {} : { exempt }),
    ...(isInRow(site) ? { isInRow: true as const } : {}),
    decorators: decoratorNames(definition, module),
    bases: basesOf(definition, module),
  }
}

function isPublic({ definition, name, around }: FoundDefinition, { exported }: ModuleFacts): boolean {
  const [top] = around
  const isInFunction = around.some((outer) => outer.kind !== 'class')
  const names = [...around.map((outer) => outer.name), name]
  const isHidden = names.some((part) => part.startsWith('_'))
  const isExported = exported === undefined || exported.has(top?.name ?? name)
  return !isHidden && !isInFunction && isExported && !isInMain(definition)
}

const mainCondition = /^\(?\s*(?:__name__\s*==\s*["']__main__|["']__main__["']\s*==\s*__name__)/

function isInMain(definition: Node): boolean {
  for (let node = definition.parent; node !== null; node = node.parent) {
    if (node.type === 'if_statement' && mainCondition.test(node.childForFieldName('condition')?.text ?? '')) return true
  }
  return false
}

function exemptionIn(definition: FoundDefinition, module: ModuleFacts): string | undefined {
  if (module.waived.includes(definition.kind)) return 'is left alone: a comment in its file says that it needs none'
  if (module.docSetFor.has(definition.name)) return 'is left alone: its __doc__ is set by the code'
  if (isGivenFunction(definition, module))
    return 'is left alone: its decorator may give it the docstring of another function'
  return exemptionOf(definition.site)
}

/** Is true when a decorator is called with a function of the repository, as Jinja's `@async_variant(sync_do_first)` is. */
function isGivenFunction({ definition, site }: FoundDefinition, { names }: ModuleFacts): boolean {
  const given = decoratorsOf(definition, site.whole).flatMap((decorator) =>
    codeIn(decorator.childForFieldName('arguments')),
  )
  return given.some(
    ({ type, text }) => type === 'identifier' && /^_?[a-z]/.test(text) && names.resolve(text).startsWith('.'),
  )
}

function decoratorNames({ definition, site }: FoundDefinition, { names }: ModuleFacts): string[] {
  return decoratorsOf(definition, site.whole).map((decorator) => {
    const name = dottedName(decorator)
    return name === undefined ? `?${decorator.text.slice(0, 60)}` : names.resolve(name)
  })
}

/** Includes the metaclass, which shapes a class as a base does. */
function basesOf({ definition }: FoundDefinition, { names }: ModuleFacts): string[] {
  const list = definition.type === 'class_definition' ? definition.childForFieldName('superclasses') : null
  return codeIn(list).flatMap((argument) => {
    const isMetaclass = argument.childForFieldName('name')?.text === 'metaclass'
    const expression = isMetaclass ? argument.childForFieldName('value') : argument
    const name = expression === null ? undefined : dottedName(expression)
    return name === undefined ? [] : [names.resolve(name)]
  })
}
