import { extname } from 'node:path/posix'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'

/** Says that `check` was asked for and cannot be made, so that nobody takes it for proved. */
export function notChecked(path: string, check: EvidenceCheck, language: string | undefined): Evidence {
  const kind = language ?? (extname(path) === '' ? 'files without an ending' : `${extname(path)} files`)
  const means =
    check === 'parses' || check === 'comments_kept'
      ? 'grammar'
      : check === 'lint_before_after'
        ? 'linter'
        : 'such check'
  return { check: 'not_checked', of: check, path, ok: true, tool: 'none', detail: `there is no ${means} for ${kind}` }
}
