import { basename } from 'node:path/posix'
import type { LinkedFile, LinkedRepository } from './linked-repository.ts'
import type { Reference } from './reference.ts'
import { follow } from './resolve-name.ts'

/** Of a package's files those that define what the importing file uses of it; its main file when no use is known. */
export function usedFiles(
  paths: readonly string[],
  reference: Reference,
  file: LinkedFile,
  repository: LinkedRepository,
): string[] {
  const name = file.rules.boundName(reference)
  const used = new Set<string>()
  for (const path of usesOf(name, file)) {
    const value = follow(path, { file, index: 0 }, repository)
    if (value.is === 'node') used.add(value.place.file.path)
  }
  if (used.size > 0) return [...used].filter((path) => paths.includes(path))
  const main = paths.find((path) => ['doc.go', `${name}.go`].includes(basename(path))) ?? paths[0]
  return main === undefined ? [] : [main]
}

/** `name.Thing` for every thing of the package that is called, embedded, or the type or value of something. */
function usesOf(name: string, { references }: LinkedFile): Set<string> {
  const uses = new Set<string>()
  for (const { kind, receiver, name: own, type, value } of references) {
    if (kind === 'import') continue
    const paths = [receiver === undefined ? own : `${receiver}.${own}`, receiver, type, value]
    for (const path of paths) {
      const [head, thing] = path?.split('.') ?? []
      if (head === name && thing !== undefined) uses.add(`${name}.${thing.replace('()', '')}`)
    }
  }
  return uses
}
