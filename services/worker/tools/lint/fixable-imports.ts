import type { Diagnostic } from '#lint/lint-report.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { moduleOutline } from './module-outline.ts'

/** Without the faults whose fix would remove an import that others may depend on. */
export function fixableImports(
  diagnostics: readonly Diagnostic[],
  { path, text }: { path: string; text: string },
  python: LoadedLanguage,
): Diagnostic[] {
  const outline = moduleOutline(text, python)
  return diagnostics.filter(({ code, start }) => {
    if (!['F401', 'F811'].includes(code)) return true
    if (path === '__init__.py' || path.endsWith('/__init__.py')) return false
    return !outline.fromImports.some((statement) => statement.start <= start && start < statement.end)
  })
}
