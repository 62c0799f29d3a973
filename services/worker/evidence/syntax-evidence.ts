import { AppError } from '#domain/error.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import { grammarVersion } from '#syntax/grammars.ts'
import { notChecked } from './not-checked.ts'
import type { SyntaxChecker } from './syntax-checker.ts'
import { hasNewFault, type SyntaxFacts } from './syntax-faults.ts'

type CheckedText = { path: string; before: string | undefined; after: string }

/** Answers what proves one check after the other of a file that is not Python. Each of its texts is parsed once. */
export type SyntaxProver = (
  file: CheckedText,
  language: string | undefined,
) => (check: EvidenceCheck) => Promise<Evidence>

/**
 * Of a file that is not Python: a change may bring no syntax error which the text before did not have, and may lose no comment.
 * There are no means for the rest.
 */
export function openSyntaxEvidence(syntax: Pick<SyntaxChecker, 'read'>): SyntaxProver {
  return (file, language) => {
    let reading: Promise<[SyntaxFacts, SyntaxFacts]> | undefined
    return async (check) => {
      if (language === undefined || !(check === 'parses' || check === 'comments_kept')) {
        return notChecked(file.path, check, language)
      }
      const proof = { check, path: file.path, tool: grammarVersion(language) }
      try {
        reading ??= readBoth(file, language, syntax)
        const [was, now] = await reading
        return check === 'parses' ? { ...proof, ...parsed(was, now) } : { ...proof, ...commented(was, now) }
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'TOOL_006')) throw error
        return { ...proof, ok: false, detail: error.message }
      }
    }
  }
}

async function readBoth(
  { before, after }: CheckedText,
  language: string,
  syntax: Pick<SyntaxChecker, 'read'>,
): Promise<[SyntaxFacts, SyntaxFacts]> {
  const was = await syntax.read({ language, text: before ?? '' })
  return [was, await syntax.read({ language, text: after })]
}

type Proved = Pick<Evidence, 'ok' | 'before' | 'after' | 'detail'>

function parsed({ faults: was }: SyntaxFacts, { faults: now }: SyntaxFacts): Proved {
  const detail = now.first === undefined ? {} : { detail: `line ${now.first.line}: ${now.first.words}` }
  return { ok: !hasNewFault(was, now), before: was.places, after: now.places, ...detail }
}

/** All comments are there, in the order they were in. */
function commented({ comments: was }: SyntaxFacts, { comments: now }: SyntaxFacts): Proved {
  const figures = { before: was.length, after: now.length }
  let next = 0
  for (const { text, line } of was) {
    const at = now.findIndex((comment, place) => place >= next && comment.text === text)
    if (at < 0)
      return { ok: false, ...figures, detail: `line ${line}: the comment ${JSON.stringify(text.slice(0, 60))} is gone` }
    next = at + 1
  }
  return { ok: true, ...figures }
}
