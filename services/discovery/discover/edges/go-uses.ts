import { basename } from 'node:path/posix'
import type { LinkedFile, LinkedRepository } from './linked-repository.ts'
import { follow } from './resolve-name.ts'

/** The things of packages that a file calls, embeds, or has as the type or value of something: package name → things. */
export type PackageUses = ReadonlyMap<string, ReadonlySet<string>>

export function packageUses({ references }: LinkedFile): PackageUses {
  const uses = new Map<string, Set<string>>()
  for (const { kind, receiver, name, type, value } of references) {
    if (kind === 'import') continue
    const paths = [receiver === undefined ? name : `${receiver}.${name}`, receiver, type, value]
    for (const path of paths) {
      const [head = '', thing] = path?.split('.') ?? []
      if (thing === undefined) continue
      const things = uses.get(head) ?? new Set()
      uses.set(head, things.add(thing.replace('()', '')))
    }
  }
  return uses
}

/** Of a package's files those that define what the importing file uses of it; its main file when no use is known. */
export function usedFiles(
  paths: readonly string[],
  name: string,
  { file, uses }: { file: LinkedFile; uses: PackageUses },
  repository: LinkedRepository,
): string[] {
  const used = new Set<string>()
  for (const thing of uses.get(name) ?? []) {
    const value = follow(`${name}.${thing}`, { file, index: 0 }, repository)
    if (value.is === 'node') used.add(value.place.file.path)
  }
  if (used.size > 0) return [...used].filter((path) => paths.includes(path))
  const main = paths.find((path) => ['doc.go', `${name}.go`].includes(basename(path))) ?? paths[0]
  return main === undefined ? [] : [main]
}
