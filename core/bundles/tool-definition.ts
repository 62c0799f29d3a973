import type { BundleFile } from '#domain/agent-bundle.ts'
import type { JsonSchema, ToolDefinition } from '#domain/turn.ts'
import { inputSchema } from '#tool-scripts/script-schema.ts'
import type { ScriptDeclarations } from '#tool-scripts/script-declarations.ts'

export type ScriptToolFile = Extract<BundleFile['tools'][number], { script: string }>

export type BuiltTool = {
  definition: ToolDefinition
  /** Inputs the host fills in; the definition does not show them. */
  hostInputs: string[]
  faults: { key: string; message: string }[]
  warnings: { key: string; message: string }[]
}

/** What an override must not change: the script decides, since the script receives the value. */
const fixedKeywords = ['type', 'required', 'default']

/** The tool as the model sees it: the script's inputs without the host's, with `inputs_override` laid over them. */
export function buildToolDefinition(
  tool: ScriptToolFile,
  declarations: ScriptDeclarations,
  hostInputNames: ReadonlySet<string>,
): BuiltTool {
  const hostInputs = declarations.inputs.map(({ name }) => name).filter((name) => hostInputNames.has(name))
  const schema = inputSchema({ inputs: declarations.inputs.filter(({ name }) => !hostInputNames.has(name)) })
  const built: BuiltTool = {
    definition: { name: tool.name, description: tool.description, parameters: schema },
    hostInputs,
    faults: [],
    warnings: [],
  }
  const properties = new Map(Object.entries(schema.properties))
  for (const [name, override] of Object.entries(tool.inputs_override)) {
    const property = properties.get(name)
    if (property === undefined) {
      built.faults.push({
        key: name,
        message: `inputs_override names ${name}, which is no input of ${tool.script} the model sees`,
      })
    } else properties.set(name, overridden(name, property, override, built))
  }
  for (const [name, property] of properties) {
    if (hasStrayProperties(property)) {
      built.warnings.push({ key: name, message: `${tool.name}.${name} has properties under a type other than object` })
    }
  }
  built.definition.parameters = { ...schema, properties: Object.fromEntries(properties) }
  return built
}

function overridden(name: string, property: JsonSchema, override: JsonSchema, built: BuiltTool): JsonSchema {
  const changed = fixedKeywords.filter(
    (keyword) =>
      Object.hasOwn(override, keyword) && JSON.stringify(override[keyword]) !== JSON.stringify(property[keyword]),
  )
  for (const keyword of changed) {
    built.warnings.push({
      key: name,
      message: `inputs_override of ${name} changes its ${keyword}; the script's own is kept`,
    })
  }
  const rest = Object.entries(override).filter(([keyword]) => !fixedKeywords.includes(keyword))
  return { ...property, ...Object.fromEntries(rest) }
}

function hasStrayProperties(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  if (Array.isArray(schema)) return schema.some(hasStrayProperties)
  if ('properties' in schema && 'type' in schema && schema.type !== 'object') return true
  return Object.values(schema).some(hasStrayProperties)
}
