import type { LinkedFile, LinkedRepository, Place } from './linked-repository.ts'

export type MethodsByName = {
  /** The one method of this name in the file's language family; undefined where another method or function has it, too. */
  only(name: string, asker: LinkedFile): Place | undefined
}

/** Methods by their names. Those of test files are for test files only; names that everything has are no one's. */
export function methodsByName(repository: LinkedRepository): MethodsByName {
  const places = new Map<string, Place[]>()
  for (const file of repository.files.values()) {
    const distinct = new Map<string, Place>()
    for (const [index, { kind, qualifiedName }] of file.nodes.entries())
      if (kind === 'method' || kind === 'function') distinct.set(qualifiedName, { file, index })
    for (const place of distinct.values()) {
      const key = `${file.rules.family} ${place.file.nodes[place.index]?.name ?? ''}`
      const known = places.get(key)
      if (known === undefined) places.set(key, [place])
      else known.push(place)
    }
  }
  return {
    only(name, { rules, path }) {
      const [first, ...others] = rules.commonMembers.has(name) ? [] : (places.get(`${rules.family} ${name}`) ?? [])
      if (first === undefined || others.length > 0) return undefined
      if (first.file.nodes[first.index]?.kind !== 'method') return undefined
      return first.file.rules.isTestFile(first.file.path) && !rules.isTestFile(path) ? undefined : first
    },
  }
}
