import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'

type KnownClass = { path: string; bases: string[]; documented: Set<string> }

/**
 * Whether a method without a docstring inherits a longer one from a method of the repository: readers (`help`,
 * `inspect.getdoc`, Sphinx) find that, and one written for the override would hide it. One line that hides another takes
 * nothing away. Bases are found by their names alone: of two classes with one name, both count.
 */
export function openInheritedDocstrings(
  files: ReadonlyMap<string, FileDocstringFacts>,
): (path: string, definition: DefinitionDocFacts) => boolean {
  const classes = new Map<string, KnownClass[]>()
  for (const [path, { definitions }] of files) {
    for (const { kind, name, bases } of definitions) {
      const known = { path, bases: bases.map(lastPart), documented: new Set<string>() }
      if (kind === 'class') classes.set(name, [...(classes.get(name) ?? []), known])
    }
    for (const { kind, name, qualifiedName, hasLongDocstring } of definitions) {
      if (kind !== 'method' || hasLongDocstring !== true) continue
      for (const one of classes.get(ownerOf(qualifiedName)) ?? []) if (one.path === path) one.documented.add(name)
    }
  }
  return (path, { kind, name, qualifiedName }) => {
    if (kind !== 'method') return false
    const own = (classes.get(ownerOf(qualifiedName)) ?? []).filter((one) => one.path === path)
    const seen = new Set(own)
    // A set goes on with what is added on the way.
    for (const one of seen) {
      for (const base of one.bases.flatMap((baseName) => classes.get(baseName) ?? [])) seen.add(base)
    }
    return [...seen].some((one) => !own.includes(one) && one.documented.has(name))
  }
}

function ownerOf(qualifiedName: string): string {
  return qualifiedName.split('.').at(-2) ?? ''
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
