import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { montyCode } from './monty-code.ts'
import { parseScript } from './parse-script.ts'
import type { ScriptDeclarations } from './script-declarations.ts'

/** A script ready for the pool: plain data. `hash` names path and source together, since tracebacks show the path. */
export type CompiledScript = { path: string; hash: string; montyCode: string; declarations: ScriptDeclarations }

/** AGENT_001, with path and line, when the script does not parse or breaks a rule of tool scripts. */
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
