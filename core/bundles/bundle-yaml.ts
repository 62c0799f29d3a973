import { BundleFile } from '#domain/agent-bundle.ts'
import { describeUnknownKey, type SchemaFault, schemaFaults } from '#platform/schema-faults.ts'
import { type Place, readYaml, type YamlSource } from '#platform/yaml-source.ts'
import { AppError } from '#domain/error.ts'

/** A fault of a bundle and its place, 1-based. `code` is a rule of tool scripts or AGENT_001. */
export type BundleFault = { file: string; line: number; column: number; code: string; message: string }

export type BundleYaml = Pick<YamlSource, 'placeOf' | 'placeInText'> & {
  file: BundleFile | undefined
  faults: BundleFault[]
}

/** Reads `bundle.yaml`. Never throws: errors are in `faults`. */
export function readBundleYaml(path: string, source: string): BundleYaml {
  const { value, faults, placeOf, placeInText } = readYaml(source)
  const fault = (at: Place, message: string): BundleFault => ({ file: path, ...at, code: 'AGENT_001', message })
  const failed = (found: BundleFault[]): BundleYaml => ({ file: undefined, faults: found, placeOf, placeInText })
  if (faults.length > 0) return failed(faults.map(({ at, message }) => fault(at, message)))
  const parsed = BundleFile.safeParse(value)
  if (parsed.success) return { file: parsed.data, faults: [], placeOf, placeInText }
  return failed(schemaFaults(parsed.error).map((found) => fault(placeOf(found.at), describe(found))))
}

function describe(found: SchemaFault): string {
  if (found.isUnknownKey) return describeUnknownKey(BundleFile, found)
  return `${found.at.join('.') || 'the bundle'}: ${found.message}`
}

/** AGENT_001 with every fault on a line of its own. */
export function bundleInvalid(faults: readonly BundleFault[]): AppError {
  const lines = faults.map((fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message}`)
  return new AppError('AGENT_001', lines.join('\n'), { phase: 'grail_check' })
}
