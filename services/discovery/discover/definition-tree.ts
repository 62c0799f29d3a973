import type { PatternRules } from './compile-query.ts'

/** A definition a query found. */
export type Definition = {
  kind: string
  name: string
  /** What it belongs to although it lies elsewhere: `func (s *Server) Run`, `void Server::run()`. */
  owner: string | undefined
  start: number
  end: number
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

/**
 * Nests definitions by their ranges, in source order, outer before inner. Kinds are settled from the outside in;
 * qualified names join the enclosing names, the owner's and their own with the pattern's separator; equal (kind,
 * qualified name) pairs are numbered.
 */
export function nestDefinitions(definitions: readonly Definition[]): NestedDefinition[] {
  const nested: NestedDefinition[] = []
  const enclosing: number[] = []
  const seen = new Map<string, number>()
  for (const { rules, owner, ...definition } of definitions.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while (endOf(nested, enclosing) <= definition.start) enclosing.pop()
    const parent = enclosing.at(-1) ?? null
    const outer = parent === null ? undefined : nested[parent]
    const outerKind = outer?.kind ?? 'file'
    const kind = (Object.hasOwn(rules.inside, outerKind) ? rules.inside[outerKind] : undefined) ?? definition.kind
    const names = [outer?.qualifiedName, owner, definition.name].filter((name) => name !== undefined)
    const qualifiedName = names.join(rules.separator)
    const identity = `${kind}\0${qualifiedName}`
    const ordinal = seen.get(identity) ?? 0
    seen.set(identity, ordinal + 1)
    enclosing.push(nested.length)
    nested.push({ ...definition, kind, qualifiedName, ordinal, parent })
  }
  return nested
}

function endOf(nested: readonly NestedDefinition[], enclosing: readonly number[]): number {
  const innermost = enclosing.at(-1)
  return innermost === undefined ? Number.POSITIVE_INFINITY : (nested[innermost]?.end ?? 0)
}
