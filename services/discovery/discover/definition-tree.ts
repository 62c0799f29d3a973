/** A definition a query found. `inside` says what it is instead when its nearest enclosing definition is of a kind. */
export type Definition = {
  kind: string
  name: string
  start: number
  end: number
  inside: Readonly<Record<string, string>>
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
 * qualified names join the enclosing names with dots; equal (kind, qualified name) pairs are numbered.
 */
export function nestDefinitions(definitions: readonly Definition[]): NestedDefinition[] {
  const nested: NestedDefinition[] = []
  const enclosing: number[] = []
  const seen = new Map<string, number>()
  for (const { inside, ...definition } of definitions.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while (endOf(nested, enclosing) <= definition.start) enclosing.pop()
    const parent = enclosing.at(-1) ?? null
    const outer = parent === null ? undefined : nested[parent]
    const kind =
      (Object.hasOwn(inside, outer?.kind ?? 'file') ? inside[outer?.kind ?? 'file'] : undefined) ?? definition.kind
    const qualifiedName = outer === undefined ? definition.name : `${outer.qualifiedName}.${definition.name}`
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
