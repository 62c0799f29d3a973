import type { ParsedScript } from './parse-script.ts'
import { applySourceEdits } from './source-edit.ts'

/**
 * The code Monty runs: without the grail import and the declarations, every line under its number in the source. Inputs
 * become Monty's inputs; each external becomes a wrapper that calls the host function named by `hostFunctionName`.
 */
export function montyCode(script: ParsedScript): string {
  return applySourceEdits(script.source, script.runEdits)
}
