import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { z } from 'zod'
import { readRepositoryFile, repositoryRoot } from './source-files.ts'

/** What an import names: a file of ours (a path from the root), a package, or a module of Node. */
export type ImportTarget =
  | { kind: 'file'; path: string }
  | { kind: 'package'; name: string }
  | { kind: 'builtin'; name: string }

export const manifest = z
  .object({ scripts: z.record(z.string(), z.string()), imports: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readRepositoryFile('package.json')))

/**
 * Resolves by the same rules as Node: `package.json` imports, relative paths, packages. Does not look whether it
 * exists.
 */
export function resolveImport(from: string, specifier: string): ImportTarget {
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(from), specifier) }
  if (specifier.startsWith('#')) return { kind: 'file', path: mapped(specifier) }
  if (isBuiltin(specifier)) return { kind: 'builtin', name: specifier }
  const [scope = '', name = ''] = specifier.split('/')
  return { kind: 'package', name: scope.startsWith('@') ? `${scope}/${name}` : scope }
}

function mapped(specifier: string): string {
  for (const [pattern, target] of Object.entries(manifest.imports)) {
    const prefix = pattern.slice(0, pattern.indexOf('*'))
    if (specifier.startsWith(prefix)) return posix.normalize(target.replace('*', specifier.slice(prefix.length)))
  }
  throw new Error(`package.json has no imports entry for "${specifier}"`)
}

export function repositoryHas(path: string): boolean {
  return existsSync(repositoryRoot + path)
}
