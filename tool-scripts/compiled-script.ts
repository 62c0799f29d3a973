import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { type ParsedScript, parseScript } from './parse-script.ts'
import type { ScriptDeclarations } from './script-declarations.ts'
import { applySourceEdits } from './source-edit.ts'

/** A script ready for the pool, as plain data. `hash` covers path and source, since tracebacks show the path. */
export type CompiledScript = { path: string; hash: string; montyCode: string; declarations: ScriptDeclarations }

/** Throws AGENT_001, with path and line, when the script does not parse or breaks a rule of tool scripts. */
export async function compileScript(
  file: { path: string; source: string },
  profile?: ScriptProfile,
): Promise<CompiledScript> {
  const script = await parseScript(file.source, profile)
  const [fault] = script.faults
  if (fault !== undefined) {
    throw new AppError('AGENT_001', `${file.path}:${fault.line}:${fault.column} ${fault.code} ${fault.message}`)
  }
  const hash = sha256(`${file.path}\0${script.source}`)
  return { path: file.path, hash, montyCode: montyCode(script), declarations: script.declarations }
}

/** Returns what Monty runs: the script without its declarations, on the same lines; each external is a wrapper around its `mangledName`. */
export function montyCode(script: ParsedScript): string {
  return applySourceEdits(script.source, script.runEdits)
}
