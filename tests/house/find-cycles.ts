/**
 * The groups of files that import each other in a circle (strongly connected components of two or more, or a file that
 * imports itself), each sorted. Tarjan's algorithm.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()
  const cycles: string[][] = []

  function visit(node: string): number {
    const order = index.size
    index.set(node, order)
    stack.push(node)
    open.add(node)
    let lowest = order
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next))
      else if (open.has(next)) lowest = Math.min(lowest, low.get(next) ?? index.get(next) ?? lowest)
    }
    low.set(node, lowest)
    if (lowest === order) closeComponent(node)
    return lowest
  }

  function closeComponent(root: string): void {
    const members = stack.splice(stack.indexOf(root))
    for (const member of members) open.delete(member)
    if (members.length > 1 || graph.get(root)?.includes(root)) cycles.push(members.toSorted())
  }

  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return cycles
}
