import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** `ruff rule --all --output-format json`. */
const RuffRules = z.array(
  z.object({
    code: z.string().nullable(),
    name: z.string(),
    fix_availability: z.string(),
    status: z.record(z.string(), z.unknown()),
  }),
)

export type CandidateRule = { code: string; name: string }

/** The rules that are stable and have a fix, always or sometimes. Ruff marks each single fix as safe or not. */
export function readCandidates(json: string): CandidateRule[] {
  return RuffRules.parse(JSON.parse(json))
    .filter(({ fix_availability: fix, status }) => fix !== 'None' && 'Stable' in status)
    .flatMap(({ code, name }) => (code === null ? [] : [{ code, name }]))
}

/** Rules that are refused whatever is measured: rule → why. */
export const refusedOnGround: Readonly<Record<string, string>> = {
  SIM300: 'swaps the operands of a comparison: another `__eq__` runs first',
  SIM905: 'writes a list of any length into one line',
  FURB118: 'replaces a function by an object of `operator`: it has another signature, name and `__get__`',
  ERA001: 'removes comments',
  UP009: 'removes comments',
  RUF100: 'removes comments',
  RUF102: 'removes comments',
}

/** Rules whose purpose is to remove a comment that does nothing: rule → the comments it may remove. */
export const commentsThatMayGo: Readonly<Record<string, RegExp>> = {
  UP009: /#.*coding[:=]\s*utf-?8/i,
  RUF100: /#.*\bnoqa\b/i,
  RUF102: /#.*\bnoqa\b/i,
}

/** Which comments are unused depends on every rule that a repository selects: tried with its own configuration, not alone. */
export const triedAsConfigured: ReadonlySet<string> = new Set(['RUF100'])

/**
 * Rules whose fixes the record of the safe-rules bench refuses. F401 is not among them: which of its fixes may be made is
 * judged import by import.
 */
export async function readRefusedRules(): Promise<ReadonlySet<string>> {
  const record = await readFile(new URL('../safe-rules.json', import.meta.url), 'utf8')
  const figures = z.array(z.looseObject({ rule: z.string(), verdict: z.string() })).parse(JSON.parse(record))
  return new Set(figures.flatMap(({ rule, verdict }) => (verdict === 'refused' && rule !== 'F401' ? [rule] : [])))
}
