import { isClass, type LinkedFile, type LinkedRepository, type Place } from './linked-repository.ts'
import { isTestCode } from './test-names.ts'

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
      if (!isMethodOfClass(first)) return undefined
      return isTestCode(first) && !rules.isTestFile(path) ? undefined : first
    },
  }
}

/** What an object literal is given is called wherever that object goes, and many go by its names. */
function isMethodOfClass({ file, index }: Place): boolean {
  if (file.nodes[index]?.kind !== 'method') return false
  const parent = file.parents[index]
  return file.rules.family === 'go' || (typeof parent === 'number' && isClass({ file, index: parent }))
}
