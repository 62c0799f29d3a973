import { readFile } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import type { GivenInputs } from './tool-inputs.ts'

/**
 * All inputs of one `--inputs FILE.json`, where `-` is what `stdin` reads; none without a file. DISC_005 when it cannot
 * be read, TOOL_002 when it is no JSON object.
 */
export async function readGiven(
  file: string | undefined,
  stdin: () => Promise<string>,
): Promise<GivenInputs['values']> {
  if (file === undefined) return {}
  const name = file === '-' ? 'standard input' : file
  const text = await (file === '-' ? stdin() : readFile(file, 'utf8')).catch((cause: unknown) => {
    throw new AppError('DISC_005', `--inputs: ${name} cannot be read`, { cause })
  })
  const value = parseJson(text)
  if (!isRecord(value)) throw new AppError('TOOL_002', `--inputs: ${name} is no JSON object, {"input": value, …}`)
  return value
}
