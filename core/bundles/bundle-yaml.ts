import { BundleFile } from '#domain/agent-bundle.ts'
import { describeUnknownKey, schemaFaults } from '#platform/schema-faults.ts'
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
  const described = schemaFaults(parsed.error).map((found) => {
    const message = `${found.at.join('.') || 'the bundle'}: ${found.message}`
    return fault(placeOf(found.at), found.isUnknownKey ? describeUnknownKey(BundleFile, found) : message)
  })
  return failed(described)
}

/** AGENT_001 with every fault on a line of its own. */
export function bundleInvalid(faults: readonly BundleFault[]): AppError {
  const lines = faults.map((fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message}`)
  return new AppError('AGENT_001', lines.join('\n'), { phase: 'grail_check' })
}
