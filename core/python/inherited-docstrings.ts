import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'

/** Classes by their names alone: of two with one name, both count. `documented`: methods with more than a line. */
type KnownClass = { bases: Set<string>; documented: Set<string> }

/**
 * Whether a method without a docstring inherits a longer one from a method of the repository: readers (`help`,
 * `inspect.getdoc`, Sphinx) find that, and one written for the override would hide it. One line that hides another takes
 * nothing away.
 */
export function openInheritedDocstrings(
  files: ReadonlyMap<string, FileDocstringFacts>,
): (definition: DefinitionDocFacts) => boolean {
  const classes = new Map<string, KnownClass>()
  const classOf = (name: string): KnownClass => {
    const known = classes.get(name) ?? { bases: new Set(), documented: new Set() }
    classes.set(name, known)
    return known
  }
  for (const { definitions } of files.values()) {
    for (const { kind, name, qualifiedName, bases, hasLongDocstring } of definitions) {
      if (kind === 'class') for (const base of bases) classOf(name).bases.add(lastPart(base))
      if (kind === 'method' && hasLongDocstring === true) classOf(ownerOf(qualifiedName)).documented.add(name)
    }
  }
  return ({ kind, name, qualifiedName }) => {
    if (kind !== 'method') return false
    const owner = ownerOf(qualifiedName)
    const inherited = new Set(classes.get(owner)?.bases)
    // A set goes on with what is added on the way.
    for (const className of inherited) {
      for (const base of classes.get(className)?.bases ?? []) inherited.add(base)
    }
    inherited.delete(owner)
    return [...inherited].some((className) => classes.get(className)?.documented.has(name) === true)
  }
}

function ownerOf(qualifiedName: string): string {
  return qualifiedName.split('.').at(-2) ?? ''
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
