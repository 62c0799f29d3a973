import { AppError } from '#domain/error.ts'
import { checkScript } from '#tool-scripts/check-script.ts'
import { compileScript, type CompiledScript } from '#tool-scripts/compiled-script.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import { nearProfile } from '#bundles/near-profile.ts'
import { readSource } from '#bundles/read-source.ts'
import { findingText } from '../finding-text.ts'

/**
 * A script that may run, under the name the person gave it. DISC_005 when it cannot be read, AGENT_001 with the lines of
 * `remora check` when it has faults; warnings are let pass.
 */
export async function readScript(file: string): Promise<CompiledScript> {
  if (!file.endsWith('.pym')) throw new AppError('AGENT_001', `${file} is no .pym file`)
  const read = await readSource(file)
  if ('fault' in read) throw new AppError('DISC_005', `${file}: ${read.fault}`)
  const { source } = read
  const profile = await nearProfile(file)
  const { faults, valid } = await checkScript(source, file, { knownExternals: await hostExternals(), profile })
  if (valid) return compileScript({ path: file, source }, profile)
  const lines = source.split('\n')
  const errors = faults.filter(({ severity }) => severity === 'error')
  const told = errors.map((fault) => findingText({ file, ...fault, source: lines[fault.line - 1] ?? '' }))
  throw new AppError('AGENT_001', `${file} breaks the rules of tool scripts:\n${told.join('').trimEnd()}`)
}
