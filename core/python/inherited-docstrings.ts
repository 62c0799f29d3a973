import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'

/** All classes of one name; which of their methods have a longer docstring, with the files of those classes. */
type KnownClasses = { bases: Set<string>; documented: Map<string, Set<string>> }

/**
 * Whether a method without a docstring inherits a longer one from a method of the repository: readers (`help`,
 * `inspect.getdoc`, Sphinx) find that, and one written for the override would hide it. One line that hides another takes
 * nothing away. Bases are found by their names alone: of two classes with one name, both count.
 */
export function openInheritedDocstrings(
  files: ReadonlyMap<string, FileDocstringFacts>,
): (path: string, definition: DefinitionDocFacts) => boolean {
  const classes = new Map<string, KnownClasses>()
  const classesOf = (name: string): KnownClasses => {
    const known = classes.get(name) ?? { bases: new Set(), documented: new Map() }
    classes.set(name, known)
    return known
  }
  for (const [path, { definitions }] of files) {
    for (const { kind, name, qualifiedName, bases, hasLongDocstring } of definitions) {
      if (kind === 'class') for (const base of bases) classesOf(name).bases.add(lastPart(base))
      if (kind !== 'method' || hasLongDocstring !== true) continue
      const { documented } = classesOf(ownerOf(qualifiedName))
      documented.set(name, (documented.get(name) ?? new Set()).add(path))
    }
  }
  const ancestors = new Map<string, Set<string>>()
  const ancestorsOf = (name: string): Set<string> => {
    const known = ancestors.get(name) ?? new Set(classes.get(name)?.bases)
    if (!ancestors.has(name)) {
      ancestors.set(name, known)
      // A set goes on with what is added on the way.
      for (const one of known) for (const base of classes.get(one)?.bases ?? []) known.add(base)
    }
    return known
  }
  return (path, { kind, name, qualifiedName }) => {
    if (kind !== 'method') return false
    const owner = ownerOf(qualifiedName)
    // A base may have the name of the class itself, in another file.
    return [...ancestorsOf(owner)].some((one) => {
      const places = classes.get(one)?.documented.get(name)
      return places !== undefined && (one !== owner || places.size > 1 || !places.has(path))
    })
  }
}

function ownerOf(qualifiedName: string): string {
  return qualifiedName.split('.').at(-2) ?? ''
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
