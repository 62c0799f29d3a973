import { BundleFile } from '#domain/agent-bundle.ts'
import { describeUnknownKey, plainWords, schemaFaults } from '#platform/schema-faults.ts'
import { firstFaults, type Place, readYaml, type YamlSource } from '#platform/yaml-source.ts'
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
  const none = { file: undefined, placeOf, placeInText }
  if (faults.length > 0) return { ...none, faults: faults.map(({ at, message }) => fault(at, message)) }
  const parsed = BundleFile.safeParse(value, { error: plainWords })
  if (parsed.success) return { ...none, file: parsed.data, faults: [] }
  const described = firstFaults(
    schemaFaults(parsed.error),
    (schemaFault) => {
      const message = `${schemaFault.at.join('.') || 'the bundle'}: ${schemaFault.message}`
      return fault(
        placeOf(schemaFault.at),
        schemaFault.isUnknownKey ? describeUnknownKey(BundleFile, schemaFault) : message,
      )
    },
    (more, next) => fault(placeOf(next.at), `and ${more} more faults`),
  )
  return { ...none, faults: described }
}

export function bundleInvalid(faults: readonly BundleFault[]): AppError {
  const lines = faults.map((fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message}`)
  return new AppError('AGENT_001', lines.join('\n'), { phase: 'grail_check' })
}
