import type { ChangeSet } from '#domain/change-set.ts'

/** Returns the sets in groups that compose apart from each other, in the order of their first sets. */
export function independentGroups(sets: readonly ChangeSet[]): ChangeSet[][] {
  const changes = sets.flatMap((set) => set.files)
  const created = new Set(changes.flatMap(({ kind, path }) => (kind === 'create' ? [path] : [])))
  const linked = new Map<string, string>()
  const rootOf = (path: string) => {
    let root = path
    for (let next = linked.get(root); next !== undefined; next = linked.get(root)) root = next
    if (root !== path) linked.set(path, root)
    return root
  }
  const link = (path: string, otherPath: string) => {
    const [root, otherRoot] = [rootOf(path), rootOf(otherPath)]
    if (root !== otherRoot) linked.set(otherRoot, root)
  }
  const firstPath = ({ files: [first] }: ChangeSet) => first?.path ?? ''
  const byId = new Map(sets.map((set) => [set.changeSetId, set]))
  for (const set of sets) {
    for (const { path } of set.files) link(firstPath(set), path)
    for (const needed of set.builtOn ?? []) {
      const neededSet = byId.get(needed)
      if (neededSet !== undefined) link(firstPath(neededSet), firstPath(set))
    }
  }
  for (const path of created) for (const folder of foldersOf(path)) if (created.has(folder)) link(path, folder)
  return [...Map.groupBy(sets, (set) => rootOf(firstPath(set))).values()]
}

export function foldersOf(path: string): string[] {
  return Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index))
}

/** Keeps the given order, but puts each set behind those of them that it is built on. */
export function neededFirst(sets: readonly ChangeSet[]): ChangeSet[] {
  if (sets.every(({ builtOn }) => builtOn === undefined)) return [...sets]
  const byId = new Map(sets.map((set) => [set.changeSetId, set]))
  const ordered = new Set<ChangeSet>()
  const begun = new Set<ChangeSet>()
  const take = (set: ChangeSet) => {
    if (begun.has(set)) return
    begun.add(set)
    for (const id of set.builtOn ?? []) {
      const needed = byId.get(id)
      if (needed !== undefined) take(needed)
    }
    ordered.add(set)
  }
  for (const set of sets) take(set)
  return [...ordered]
}

/** The sets after those that they are built on, as far as these are known. */
export function withNeeded(sets: readonly ChangeSet[], known: ReadonlyMap<string, ChangeSet>): ChangeSet[] {
  const needed = sets.flatMap(({ builtOn = [] }) => builtOn.flatMap((id) => known.get(id) ?? []))
  return [...new Set([...needed, ...sets])]
}
