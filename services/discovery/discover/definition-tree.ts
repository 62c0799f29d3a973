import type { PatternRules } from './compile-query.ts'

/** A definition a query found. */
export type Definition = {
  kind: string
  name: string
  /** What it belongs to although it lies elsewhere: `func (s *Server) Run`, `void Server::run()`. */
  owner: string | undefined
  start: number
  end: number
  /** It holds syntax errors of its own. */
  broken: boolean
  rules: Pick<PatternRules, 'inside' | 'separator'>
}

export type NestedDefinition = {
  kind: string
  name: string
  qualifiedName: string
  ordinal: number
  /** Index into the returned list, or null at the top of the file. */
  parent: number | null
  start: number
  end: number
}

/** `broken`: the qualified names of definitions that are no nodes, since what they hold does not parse. */
export type NestedDefinitions = { nested: NestedDefinition[]; broken: string[] }

/**
 * Nests definitions by their ranges, in source order, outer before inner. Kinds are settled from the outside in;
 * qualified names join the enclosing names, the owner's and their own with the pattern's separator; equal (kind,
 * qualified name) pairs are numbered. Broken ones count for the kinds, names and numbers of the others, so that no
 * syntax error changes those, and are then left out.
 */
export function nestDefinitions(definitions: readonly Definition[]): NestedDefinitions {
  const nested: (NestedDefinition & { broken: boolean })[] = []
  const enclosing: number[] = []
  const seen = new Map<string, number>()
  for (const { rules, owner, ...definition } of definitions.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while (endOf(nested, enclosing) <= definition.start) enclosing.pop()
    const parent = enclosing.at(-1) ?? null
    const outer = parent === null ? undefined : nested[parent]
    const outerKind = outer?.kind ?? 'file'
    const kind = (Object.hasOwn(rules.inside, outerKind) ? rules.inside[outerKind] : undefined) ?? definition.kind
    const name = shortened(definition.name)
    const names = [outer?.qualifiedName, owner, name].filter((part) => part !== undefined)
    const qualifiedName = shortened(names.join(rules.separator))
    const identity = `${kind}\0${qualifiedName}`
    const ordinal = seen.get(identity) ?? 0
    seen.set(identity, ordinal + 1)
    enclosing.push(nested.length)
    nested.push({ ...definition, name, kind, qualifiedName, ordinal, parent })
  }
  return withoutBroken(nested)
}

/** What lies in a broken definition lies in what the broken one lies in. */
function withoutBroken(all: readonly (NestedDefinition & { broken: boolean })[]): NestedDefinitions {
  const nested: NestedDefinition[] = []
  const broken: string[] = []
  /** Where each one is in `nested`: a broken one is where its parent is. */
  const places: (number | null)[] = []
  for (const { broken: isBroken, ...definition } of all) {
    const parent = definition.parent === null ? null : (places[definition.parent] ?? null)
    places.push(isBroken ? parent : nested.length)
    if (isBroken) broken.push(definition.qualifiedName)
    else nested.push({ ...definition, parent })
  }
  return { nested, broken }
}

/** Names hold those of all that encloses them: without an end to it, deep nesting would cost its square in memory. */
const longestName = 1000

function shortened(name: string): string {
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function endOf(nested: readonly NestedDefinition[], enclosing: readonly number[]): number {
  const innermost = enclosing.at(-1)
  return innermost === undefined ? Number.POSITIVE_INFINITY : (nested[innermost]?.end ?? 0)
}
