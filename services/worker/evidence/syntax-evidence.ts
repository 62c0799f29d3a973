import { AppError } from '#domain/error.ts'
import type { Evidence } from '#domain/evidence.ts'
import { grammarVersion } from '#syntax/grammars.ts'
import type { SyntaxChecker } from './syntax-checker.ts'
import { hasNewFault } from './syntax-faults.ts'

type CheckedText = { path: string; before: string | undefined; after: string }

/** Of a file that is not Python: a change may bring no syntax error which the text before did not have. */
export async function syntaxEvidence(
  { path, before: old, after: text }: CheckedText,
  language: string,
  syntax: Pick<SyntaxChecker, 'faults'>,
): Promise<Evidence> {
  const check = 'parses' as const
  const tool = grammarVersion(language)
  try {
    const was = await syntax.faults({ language, text: old ?? '' })
    const now = await syntax.faults({ language, text })
    const detail = now.first === undefined ? {} : { detail: `line ${now.first.line}: ${now.first.words}` }
    return { check, path, ok: !hasNewFault(was, now), tool, before: was.places, after: now.places, ...detail }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'TOOL_006')) throw error
    return { check, path, ok: false, tool, detail: error.message }
  }
}
