import { readFile } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import { checkScript } from '#tool-scripts/check-script.ts'
import { compileScript, type CompiledScript } from '#tool-scripts/compiled-script.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import { findingLine } from '../commands/check.ts'

/**
 * A script that may run, under the name the person gave it. DISC_005 when it cannot be read, AGENT_001 with the lines of
 * `remora check` when it has faults; warnings are let pass.
 */
export async function readScript(file: string): Promise<CompiledScript> {
  if (!file.endsWith('.pym')) throw new AppError('AGENT_001', `${file} is no .pym file`)
  const source = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('DISC_005', `${file} cannot be read: ${wordsOf(cause)}`, { cause })
  })
  const { faults, valid } = await checkScript(source, file, { knownExternals: await hostExternals() })
  if (valid) return compileScript({ path: file, source })
  const lines = source.split('\n')
  const errors = faults.filter(({ severity }) => severity === 'error')
  const told = errors.map((fault) => findingLine({ file, ...fault, source: lines[fault.line - 1] ?? '' }))
  throw new AppError('AGENT_001', `${file} breaks the rules of tool scripts:\n${told.join('').trimEnd()}`)
}

function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file'
  return code === 'EISDIR' ? 'it is a folder' : String(code ?? error)
}
