import { AppError } from '#domain/error.ts'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { compileScript, type CompiledScript } from '#tool-scripts/compiled-script.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { checkScriptFile, type CheckedScript } from '#bundles/check-script-file.ts'
import { findingText } from '../finding-text.ts'
import { orInterrupted } from '../or-interrupted.ts'

export type ReadScript = { script: CompiledScript; checked: CheckedScript }

/**
 * A script that may run, under the name the person gave it. DISC_005 when it cannot be read, AGENT_001 with the lines of
 * `remora check` when it has faults; warnings are let pass. `chosen` goes before what its bundle says.
 */
export async function readScript(
  file: string,
  chosen: ScriptProfile | undefined,
  signal: AbortSignal,
): Promise<ReadScript> {
  if (!file.endsWith('.pym')) throw new AppError('AGENT_001', `${file} is no .pym file`)
  const checked = await checkedFile(file, chosen, signal)
  if ('fault' in checked) throw new AppError('DISC_005', `${file}: ${checked.fault}`)
  const { source, profile, faults } = checked
  const errors = faults.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return { script: await compileScript({ path: file, source }, profile), checked }
  const lines = source.split('\n')
  const told = errors.map((fault) => findingText({ file, ...fault, source: lines[fault.line - 1] ?? '' }))
  throw new AppError('AGENT_001', `${file} breaks the rules of tool scripts:\n${told.join('').trimEnd()}`)
}

async function checkedFile(
  file: string,
  profile: ScriptProfile | undefined,
  signal: AbortSignal,
): ReturnType<typeof checkScriptFile> {
  const typeChecker = openTypeChecker()
  try {
    const options = {
      knownExternals: await hostExternals(),
      typeChecker,
      ...(profile === undefined ? {} : { profile }),
    }
    return await orInterrupted(checkScriptFile(file, options), signal)
  } finally {
    await typeChecker.close()
  }
}
