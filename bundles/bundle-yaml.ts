import { z } from 'zod'
import { BundleFile } from '#domain/agent-bundle.ts'
import { describeUnknownKey, plainWords, schemaFaults } from '#platform/schema-faults.ts'
import { firstFaults, type Place, readYaml, type YamlPath, type YamlSource } from '#platform/yaml-source.ts'
import { AppError } from '#domain/error.ts'

/** A fault of a bundle and its place, 1-based. `code` is a rule of tool scripts or AGENT_001. */
export type BundleFault = { file: string; line: number; column: number; code: string; message: string }

export type BundleYaml = Pick<YamlSource, 'placeOf' | 'placeInText'> & {
  file: BundleFile | undefined
  faults: BundleFault[]
  /** Holds what could be read of a file with faults, so that the rest of it is checked, too. */
  draft: BundleFile | undefined
  /** The places of these faults: what is there, or inside, is not to be judged. */
  faultyAt: readonly YamlPath[]
}

const { shape } = BundleFile
const [ScriptTool, BuiltinTool] = shape.tools.element.options
const noScript = { name: '', script: '', description: '', inputs_override: {} }
const noPrompts = { system_prompt: '', node_context: '' }

/** Every bundle must have these keys: where one of them is wrong, the draft has it empty, all or a part of it. */
const mustBeThere = {
  name: shape.name.catch(''),
  description: z.string().catch(''),
  node_kinds: shape.node_kinds.catch([]),
  languages: shape.languages.catch([]),
  initial_context: z
    .object({ system_prompt: z.string().catch(''), node_context: z.string().catch('') })
    .catch(noPrompts),
  tools: z.array(z.union([BuiltinTool, scriptDraft()]).catch(noScript)).catch([]),
}
const BundleDraft = BundleFile.extend(mustBeThere)

function scriptDraft() {
  const { name, inputs_override: overrides } = ScriptTool.shape
  const text = z.string().catch('')
  return z.object({ name: name.catch(''), script: text, description: text, inputs_override: overrides.catch({}) })
}

/** Reads `bundle.yaml`. Never throws: errors are in `faults`. */
export function readBundleYaml(path: string, source: string): BundleYaml {
  const { value, faults, placeOf, placeInText } = readYaml(source)
  const fault = (at: Place, message: string): BundleFault => ({ file: path, ...at, code: 'AGENT_001', message })
  const none = { file: undefined, draft: undefined, faultyAt: [], placeOf, placeInText }
  if (faults.length > 0) return { ...none, faults: faults.map(({ at, message }) => fault(at, message)) }
  const parsed = BundleFile.safeParse(value, { error: plainWords })
  if (parsed.success) return { ...none, file: parsed.data, faults: [] }
  const found = schemaFaults(parsed.error)
  const faultyAt = found.map(({ at }) => at)
  const described = firstFaults(
    found,
    (one) => {
      const message = `${one.at.join('.') || 'the bundle'}: ${one.message}`
      return fault(placeOf(one.at), one.isUnknownKey ? describeUnknownKey(BundleFile, one) : message)
    },
    (more, next) => fault(placeOf(next.at), `and ${more} more faults`),
  )
  return { ...none, faults: described, draft: draftOf(value, faultyAt), faultyAt }
}

/** Returns undefined when there is no section with keys at all. */
function draftOf(value: unknown, faultyAt: readonly YamlPath[]): BundleFile | undefined {
  const given = z.record(z.string(), z.unknown()).safeParse(value).data
  if (given === undefined) return undefined
  const wrong = new Set(faultyAt.map(([key]) => key))
  const kept = Object.entries(given).filter(([key]) => Object.hasOwn(mustBeThere, key) || !wrong.has(key))
  return BundleDraft.safeParse(Object.fromEntries(kept)).data
}

/** Makes an AGENT_001 with every fault on a line of its own. */
export function bundleInvalid(faults: readonly BundleFault[]): AppError {
  const lines = faults.map((fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message}`)
  return new AppError('AGENT_001', lines.join('\n'), { phase: 'grail_check' })
}
