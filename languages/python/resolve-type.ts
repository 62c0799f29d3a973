import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { formOf, knownModules, scalarSchema } from './known-types.ts'
import type { ModuleTypes, TypedDefinition } from './module-types.ts'

/** Returns the types of a file by its path: null for a file that is not there, undefined for one that is not read yet. */
export type ModuleAt = (path: string) => ModuleTypes | null | undefined

/** Says in which file names are looked up. Paths that `at` does not know yet are added to `unread`. */
export type TypeScope = { path: string; module: ModuleTypes; at: ModuleAt; unread: Set<string> }

export type ResolvedType =
  | { kind: 'definition'; definition: TypedDefinition; name: string; scope: TypeScope }
  | { kind: 'known'; name: string }
  | { kind: 'unknown' }

const maxSteps = 8
const unknown: ResolvedType = { kind: 'unknown' }

export function resolveType(name: string, scope: TypeScope, steps = 0): ResolvedType {
  const { module } = scope
  const own = Object.hasOwn(module.definitions, name) ? module.definitions[name] : undefined
  if (own !== undefined) return { kind: 'definition', definition: own, name, scope }
  const [root = '', ...rest] = name.split('.')
  const imported = Object.hasOwn(module.imports, root) ? module.imports[root] : undefined
  if (imported === undefined) return rest.length === 0 ? builtin(name) : unknown
  const last = rest.at(-1) ?? imported.imported ?? ''
  const dotted = [imported.module, imported.imported, ...rest].filter((part) => part !== null).join('.')
  if (knownModules.has(dotted.slice(0, -last.length - 1))) return { kind: 'known', name: last }
  if (steps >= maxSteps) return unknown
  return inRepository(imported.module, [imported.imported ?? [], rest].flat(), { scope, steps })
}

function builtin(name: string): ResolvedType {
  const isBuiltin = scalarSchema(name) !== undefined || formOf(name) !== undefined
  return isBuiltin && /^[a-z]|^None$/.test(name) ? { kind: 'known', name } : unknown
}

/** Looks for a definition where `rest` may begin with further parts of the module's name: `import a.b` and `a.b.C`, or `from a import b` and `b.C`. */
function inRepository(
  module: string,
  rest: readonly string[],
  { scope, steps }: { scope: TypeScope; steps: number },
): ResolvedType {
  for (let parts = rest.length - 1; parts >= 0; parts--) {
    const name = rest.slice(parts).join('.')
    for (const path of pathsOf(partOf(module, rest.slice(0, parts)), scope.path)) {
      const types = scope.at(path)
      if (types === undefined) scope.unread.add(path)
      if (!types) continue
      const resolved = resolveType(name, { ...scope, path, module: types }, steps + 1)
      if (resolved.kind === 'definition') return resolved
    }
  }
  return unknown
}

/** Makes `.kinds` of `.` and `kinds`. */
function partOf(module: string, parts: readonly string[]): string {
  const name = parts.join('.')
  return name === '' ? module : `${module}${module.endsWith('.') ? '' : '.'}${name}`
}

function pathsOf(module: string, from: string): string[] {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(module) ?? []
  const parts = name.split('.').filter(Boolean)
  const above = foldersUp(folderOf(from))
  const roots = dots === '' ? ['', 'src', 'lib', ...above.toReversed()] : [above[dots.length - 1] ?? '']
  return [...new Set(roots)].flatMap((root) => {
    const path = [root, ...parts].filter(Boolean).join('/')
    return [...(parts.length === 0 ? [] : [`${path}.py`]), path === '' ? '__init__.py' : `${path}/__init__.py`]
  })
}
