import type { Node, Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { factNodesOf } from './fact-nodes.ts'
import { DefinitionDocFacts, factsOf, foundDefinitions, type FoundDefinition } from './definition-facts.ts'
import { byteOffsets, isStub } from './python-file.ts'
import { waivedKinds } from './docstring-exemption.ts'
import { codeIn, docstringParts } from './python-nodes.ts'
import { DocstringRead, docstringUses, namesAsValues } from './docstring-reads.ts'
import { docstringContent } from './docstring-site.ts'
import { DocstringVotes, namesTypes, noVotes, styleOfDocstring } from './docstring-style.ts'
import { importedNames, readImports } from './imported-names.ts'

/** Holds what one Python file says about docstrings: its own, and those that it reads. It is plain data, made once per file. */
export const FileDocstringFacts = z.strictObject({
  definitions: z.array(DefinitionDocFacts),
  reads: z.array(DocstringRead),
  /** Modules imported from outside the repository's package, by dotted name. */
  modules: z.array(z.string()),
  /** Lists what the file passes on as values: names it defines or imports, and attributes of any object with a leading dot. */
  values: z.array(z.string()),
  votes: DocstringVotes,
})
export type FileDocstringFacts = z.infer<typeof FileDocstringFacts>

/** Reads the facts of one text, wherever it is (`docstringsAt`). `tree` is the parsed `source`, the file as stored. */
export function docstringFactsOf(tree: Tree, source: string, nodes = factNodesOf(tree)): FileDocstringFacts {
  const definitions = foundDefinitions(nodes.definitions)
  const defined = new Set(definitions.map(({ name }) => name))
  const imports = nodes.imports.filter(({ type }) => type !== 'future_import_statement')
  const names = readImports(imports.flatMap(importedNames), defined)
  const uses = docstringUses({ tree, source, names, definitions })
  const exported = source.includes('__all__') ? exportedNames(tree.rootNode) : undefined
  const module = { names, exported, docSetFor: uses.setFor, waived: waivedKinds(source) }
  const byteOf = byteOffsets(source)
  return {
    definitions: definitions.map((definition) => ({
      ...factsOf(definition, module),
      startByte: byteOf(definition.start),
      endByte: byteOf(definition.end),
    })),
    reads: uses.reads,
    modules: names.modules,
    values: namesAsValues(nodes.values, source, (name) => defined.has(name) || names.isImported(name)),
    votes: votesOf(definitions, source),
  }
}

/** Returns the facts of a file at `path`: nothing is public in a private module, and a stub needs no docstring. */
export function docstringsAt(path: string, facts: FileDocstringFacts): FileDocstringFacts {
  const exempt = isStub(path) ? { exempt: 'needs no docstring: it is in a stub file' } : {}
  const visibility = isPublicModule(path) ? {} : { visibility: 'private' as const }
  if (!('exempt' in exempt || 'visibility' in visibility)) return facts
  return {
    ...facts,
    definitions: facts.definitions.map((definition) => ({ ...definition, ...exempt, ...visibility })),
  }
}

/** Judges as pydocstyle and Ruff do: no part of the module's path begins with an underscore, except names like `__init__`. */
function isPublicModule(path: string): boolean {
  const parts = path.replace(/\.pyi?$/, '').split('/')
  return parts.every((part) => !part.startsWith('_') || /^__\w+__$/.test(part))
}

/** Returns the names in the module's `__all__`. Undefined without one, and when it holds anything but strings. */
function exportedNames(module: Node): Set<string> | undefined {
  const assignments = module.namedChildren.flatMap(({ namedChildren: [first] }) =>
    first?.type === 'assignment' || first?.type === 'augmented_assignment' ? first : [],
  )
  const values = assignments.flatMap((assignment) => {
    const isExport = assignment.childForFieldName('left')?.text === '__all__'
    return isExport ? (assignment.childForFieldName('right') ?? []) : []
  })
  const names = new Set<string>()
  for (const value of values) {
    if (value.type !== 'list' && value.type !== 'tuple') return undefined
    for (const item of codeIn(value)) {
      if (item.type !== 'string') return undefined
      names.add(item.text.replace(/^\w*["']+|(?<!["'])["']+$/g, ''))
    }
  }
  return values.length === 0 ? undefined : names
}

function votesOf(definitions: readonly FoundDefinition[], source: string): DocstringVotes {
  const votes = { ...noVotes }
  for (const { site, kind } of definitions) {
    const { docstring } = site
    if (docstring === undefined) continue
    const content = docstringContent(docstring)
    const style = styleOfDocstring(content)
    const isPlainClass = style === 'plain' && (kind === 'class' || !hasParameters(site.definition))
    if (!isPlainClass) votes[style] += 1
    const typed = namesTypes(content, style)
    if (typed !== undefined) votes[typed ? 'typed' : 'untyped'] += 1
    const returned = /^[ \t]*:(returns?):/m.exec(content)?.[1]
    if (returned !== undefined) votes[returned === 'return' ? 'returnField' : 'returnsField'] += 1
    const quotes = /^\w*("""|''')/.exec(docstringParts(docstring)[0]?.text ?? '')?.[1]
    if (quotes !== undefined) votes[quotes === '"""' ? 'doubleQuotes' : 'singleQuotes'] += 1
    const isLong = content.trim().includes('\n')
    if (isLong) votes[/^[ \t]*\r?\n/.test(content) ? 'secondLine' : 'firstLine'] += 1
    const hasMore = kind === 'class' && codeIn(site.body).length > 1
    if (hasMore) votes[isFollowedByGap(docstring, source) ? 'classGap' : 'classNoGap'] += 1
  }
  return votes
}

function hasParameters(definition: Node): boolean {
  const [first, ...rest] = codeIn(definition.childForFieldName('parameters'))
  return rest.length > 0 || (first !== undefined && !/^(self|cls|mcs|mcls)$/.test(first.text))
}

function isFollowedByGap(docstring: Node, source: string): boolean {
  return /^[^\n]*\r?\n[ \t]*\r?\n/.test(source.slice(docstring.endIndex, docstring.endIndex + 300))
}
