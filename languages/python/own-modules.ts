import { basename } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'

/**
 * Returns the first parts of the names by which a repository's Python files are imported, sorted. The top folder of the repository never
 * counts as a package, since its name is not known. A module inside a package is also listed after a dot (`.models`).
 */
export function ownModulesOf(paths: readonly string[]): string[] {
  const files = paths.filter((path) => /\.pyi?$/.test(path))
  const packages = new Set(files.filter((path) => /\/__init__\.pyi?$/.test(path)).map(folderOf))
  const names = new Set<string>()
  for (const path of files) {
    let module = path.replace(/\.pyi?$/, '')
    const own = module.endsWith('/__init__') ? folderOf(module) : module
    for (let folder = folderOf(path); packages.has(folder); folder = folderOf(folder)) module = folder
    names.add(basename(module))
    if (module !== own) names.add(`.${basename(own)}`)
  }
  names.delete('__init__')
  return [...names].toSorted()
}

/** An import statement, also where its names are in brackets over several lines. */
const importClause = /\b(?:from|import)\b((?:\\\r?\n|\([^()]*\)?|[^\n#;(])*)/g

/** Returns those of a repository's own modules that the imports of a text name: few, even when a repository has thousands. */
export function ownModulesIn(text: string, ownModules: ReadonlySet<string>): string[] {
  const named = new Set<string>()
  for (const [, names = ''] of text.matchAll(importClause)) {
    for (const [name] of names.matchAll(/\w+/g)) {
      for (const known of [name, `.${name}`]) if (ownModules.has(known)) named.add(known)
    }
  }
  return [...named]
}
