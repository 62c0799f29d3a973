import { isDeepStrictEqual } from 'node:util'
import { type ImportedHere, importsIn, isLoadedForEffect } from '../import-facts.ts'
import { isStandardModule } from '../standard-modules.ts'
import type { LoadedLanguage } from '../../syntax/parser.ts'
import type { Diagnostic } from '../../lint/lint-report.ts'
import { withEdits } from '../../lint/text-edit.ts'

const movingRules: ReadonlySet<string> = new Set(['F811', 'I001', 'PLR0402'])

/**
 * Tells whether a fix that moves or rewrites imports loads the same modules, in the same order where that may matter, and binds the
 * same to each name. The repository's own modules keep their order, since one may need what another has done; so do all but
 * the standard library where one is loaded for its effect.
 */
export function keepsImports(
  { code, fix = [] }: Pick<Diagnostic, 'code' | 'fix'>,
  { path, text, ownModules }: { path: string; text: string; ownModules?: readonly string[] | undefined },
  python: LoadedLanguage,
): boolean {
  if (!movingRules.has(code)) return true
  const before = python.read(text, importsIn)
  const changed = before.filter(({ range }) => fix.some(({ start, end }) => range.start < end && start < range.end))
  // `import a.b as b` loads the module a.b; `from a import b` takes whatever a calls b.
  if (code === 'PLR0402') return changed.every(({ module }) => isStandardModule(module))
  // A function imports when it is called, and gets what the module has then.
  if (code === 'F811') return changed.every(({ scope }) => scope === '')
  const after = python.read(withEdits(text, fix), importsIn)
  const own = ownModules ?? path.split('/')
  const hasEffect = before.some((here) => isForEffect(here, text, own))
  const loadsOf = (imports: readonly ImportedHere[]) => loadedIn(imports, own, { ownOnly: !hasEffect })
  return (
    isDeepStrictEqual(loadsOf(before), loadsOf(after)) && isDeepStrictEqual(rebindingsIn(before), rebindingsIn(after))
  )
}

/** Is true for a module that is known to be loaded for its effect, or is the repository's own and never used by its name. */
function isForEffect({ module, imported, name }: ImportedHere, text: string, own: readonly string[]): boolean {
  if (isLoadedForEffect(module)) return true
  if (imported !== undefined || !isOwn(module, own)) return false
  return [...text.matchAll(new RegExp(`(?<![\\w.])${name.replaceAll(/\W/g, '')}(?!\\w)`, 'gu'))].length < 2
}

function isOwn(module: string, own: readonly string[]): boolean {
  return module.startsWith('.') || own.includes(module.split('.')[0] ?? module)
}

/** Lists what the imports load, in order: the repository's own modules, and unless `ownOnly` all others but the standard library's. */
function loadedIn(
  imports: readonly ImportedHere[],
  own: readonly string[],
  { ownOnly }: { ownOnly: boolean },
): string[] {
  const loads = new Set<string>()
  for (const { module, imported, scope } of imports) {
    if (!isOwn(module, own) && (ownOnly || isStandardModule(module))) continue
    loads.add(`${scope} ${module}`)
    const isModule = imported !== undefined && (own.includes(`.${imported}`) || /^\.+$/.test(module))
    if (isModule) loads.add(`${scope} ${module} ${imported}`)
  }
  return [...loads]
}

/** Lists the imports of which the last one counts: of names that several bind, and all where one imports everything. */
function rebindingsIn(imports: readonly ImportedHere[]): string[] {
  const takesAll = imports.some(({ name }) => name === '*')
  const binders = Map.groupBy(imports, ({ scope, name }) => `${scope} ${name}`)
  return imports
    .filter(({ scope, name }) => takesAll || (binders.get(`${scope} ${name}`)?.length ?? 0) > 1)
    .map(({ scope, name, module, imported = '' }) => `${scope} ${name} ${module} ${imported}`)
}
