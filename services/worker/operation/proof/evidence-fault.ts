import type { ErrorCode } from '#domain/error.ts'
import type { Evidence } from '#domain/evidence.ts'

/** What of the evidence asked for is not there, for the model and for the outcome; undefined when all is. */
export function evidenceFault(evidence: readonly Evidence[]): { code: ErrorCode; reason: string } | undefined {
  const missing = evidence.filter((one) => !one.ok)
  if (missing.length === 0) return undefined
  return { code: codeOf(missing), reason: missing.map(faultText).join('; ') }
}

function codeOf(missing: readonly Evidence[]): ErrorCode {
  return missing.some((one) => one.check === 'parses') ? 'WORK_004' : 'WORK_005'
}

function faultText({ check, path, before, after, detail }: Evidence): string {
  const figures = before === undefined || after === undefined ? '' : ` (${before} before, ${after} after)`
  return `${check} failed for ${path}${figures}${detail === undefined ? '' : `: ${detail}`}`
}
