import { BundleFile } from '#domain/agent-bundle.ts'
import { schemaFaults, type SchemaFault } from '#platform/schema-faults.ts'
import { describeUnknownKey } from '#platform/unknown-key.ts'
import { readYaml, type Place, type YamlSource } from '#platform/yaml-source.ts'
import type { BundleFault } from './bundle-fault.ts'

export type BundleYaml = Pick<YamlSource, 'placeOf' | 'placeInText'> & {
  file: BundleFile | undefined
  faults: BundleFault[]
}

/** Reads `bundle.yaml`. What is wrong is in `faults`, never thrown. */
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
