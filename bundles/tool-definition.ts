import type { BundleFile } from '#domain/agent-bundle.ts'
import type { JsonSchema, ToolDefinition } from '#domain/turn.ts'
import { inputSchema, type ScriptDeclarations } from '#tool-scripts/script-declarations.ts'

/** The terminal tool of every bundle: calling it ends the conversation. */
export const submitToolName = 'submit_result'

export const submitTool: ToolDefinition = {
  name: submitToolName,
  description: 'Submit the result and end the work. Call it once, as the last call.',
  parameters: {
    type: 'object',
    properties: {
      status: {
        type: 'string',
        enum: ['success', 'failed', 'skipped'],
        description: 'success: done. skipped: nothing had to be done. failed: it could not be done.',
      },
      summary: { type: 'string', description: 'What was done, in one or two sentences.' },
      changed_files: { type: 'array', items: { type: 'string' }, description: 'Paths of the files that were changed.' },
      details: { type: 'object', description: 'Anything more that is worth keeping.' },
      error: { type: 'string', description: 'Why it failed.' },
    },
    required: ['status', 'summary'],
    additionalProperties: false,
  },
}

/** The worker provides script inputs of these names, for every tool; the model never sees them. */
export const providedInputNames: ReadonlySet<string> = new Set([
  'node_text',
  'node_name',
  'node_kind',
  'node_id',
  'node_start_line',
  'node_end_line',
  'file_path',
  'files',
  'workspace_id',
  'language',
  'settings',
])

export type ScriptToolFile = Extract<BundleFile['tools'][number], { script: string }>

export type BuiltTool = {
  definition: ToolDefinition
  providedInputs: string[]
  faults: { key: string; message: string }[]
  warnings: { key: string; message: string }[]
}

/** An override may not change these, since the script receives the value. */
const fixedKeywords = ['type', 'required', 'default']

/** The tool as the model sees it: the script's inputs without the provided ones, with `inputs_override` applied. */
export function buildToolDefinition(tool: ScriptToolFile, declarations: ScriptDeclarations): BuiltTool {
  const providedInputs = declarations.inputs.map(({ name }) => name).filter((name) => providedInputNames.has(name))
  const schema = inputSchema({ inputs: declarations.inputs.filter(({ name }) => !providedInputNames.has(name)) })
  const built: BuiltTool = {
    definition: { name: tool.name, description: tool.description, parameters: schema },
    providedInputs,
    faults: [],
    warnings: [],
  }
  const properties = new Map(Object.entries(schema.properties))
  for (const [name, override] of Object.entries(tool.inputs_override)) {
    const property = properties.get(name)
    if (property === undefined) {
      const message = `inputs_override names ${name}, which is no input of ${tool.script} the model sees`
      built.faults.push({ key: name, message })
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
  const isChanged = (key: string) => JSON.stringify(override[key]) !== JSON.stringify(property[key])
  const changed = fixedKeywords.filter((key) => Object.hasOwn(override, key) && isChanged(key))
  for (const keyword of changed) {
    const message = `inputs_override of ${name} changes its ${keyword}; the script's own is kept`
    built.warnings.push({ key: name, message })
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
