import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'

/** Classes by their names alone: of two with one name, both count. */
type KnownClass = { bases: Set<string>; documented: Set<string> }

/**
 * Which method of the repository gives a method without a docstring its own, as `Base.method`: readers (`help`,
 * `inspect.getdoc`, Sphinx) find it there, and one written for the override would hide it. Undefined where none does, and
 * for what is no method.
 */
export function openInheritedDocstrings(
  files: ReadonlyMap<string, FileDocstringFacts>,
): (definition: DefinitionDocFacts) => string | undefined {
  const classes = new Map<string, KnownClass>()
  const classOf = (name: string): KnownClass => {
    const known = classes.get(name) ?? { bases: new Set(), documented: new Set() }
    classes.set(name, known)
    return known
  }
  for (const { definitions } of files.values()) {
    for (const { kind, name, qualifiedName, bases, hasDocstring } of definitions) {
      if (kind === 'class') for (const base of bases) classOf(name).bases.add(lastPart(base))
      if (kind === 'method' && hasDocstring) classOf(ownerOf(qualifiedName)).documented.add(name)
    }
  }
  return ({ kind, name, qualifiedName }) => {
    if (kind !== 'method') return undefined
    const seen = new Set([ownerOf(qualifiedName)])
    for (const className of seen) {
      const found = [...(classes.get(className)?.bases ?? [])].find((base) => classes.get(base)?.documented.has(name))
      if (found !== undefined) return `${found}.${name}`
      for (const base of classes.get(className)?.bases ?? []) seen.add(base)
    }
    return undefined
  }
}

function ownerOf(qualifiedName: string): string {
  return qualifiedName.split('.').at(-2) ?? ''
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
