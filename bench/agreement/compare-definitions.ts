/** A definition as Python's ast module and a query pack can both tell it. */
export type Definition = {
  kind: string
  qualifiedName: string
  startLine: number
  endLine: number
  startByte: number
  endByte: number
}

export type Comparison = {
  /** Definitions of theirs that are among ours with the same kind, name, lines and bytes. */
  agreed: number
  /** One sentence each: what only one side has, and what both have otherwise. */
  differences: string[]
}

/** Compares two lists of one file's definitions. Names are compared in form NFKC, as Python itself compares them. */
export function compareDefinitions(ours: readonly Definition[], theirs: readonly Definition[]): Comparison {
  const left = new Map(Map.groupBy(ours, textOf))
  const unmatched: Definition[] = []
  for (const definition of theirs) {
    if (left.get(textOf(definition))?.pop() === undefined) unmatched.push(definition)
  }
  const extra = [...left.values()].flat()
  const differences = unmatched.map((missing) => {
    const near = extra.findIndex((one) => one.startByte === missing.startByte || one.endByte === missing.endByte)
    const [other] = near === -1 ? [] : extra.splice(near, 1)
    return other === undefined ? `only ast: ${textOf(missing)}` : `ast: ${textOf(missing)}; ours: ${textOf(other)}`
  })
  differences.push(...extra.map((one) => `only ours: ${textOf(one)}`))
  return { agreed: theirs.length - unmatched.length, differences }
}

function textOf({ kind, qualifiedName, startLine, endLine, startByte, endByte }: Definition): string {
  const name = qualifiedName.normalize('NFKC')
  return `${kind} ${name} lines ${startLine}-${endLine} bytes ${startByte}-${endByte}`
}
