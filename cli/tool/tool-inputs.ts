import { readFile } from 'node:fs/promises'
import { AppError } from '#domain/error.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import type { JsonSchema } from '#domain/turn.ts'
import { nearest } from '#platform/nearest.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import { type InputDeclaration, inputSchema } from '#tool-scripts/script-declarations.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'
import { bundleInvalid } from '#bundles/bundle-yaml.ts'
import { bundleOfScript } from '#bundles/check-script-file.ts'
import { resolveSettings } from '#bundles/adjust-bundles.ts'
import { nodeInputs } from '#stages/operate/tools/provided-inputs.ts'
import type { TargetNode } from '#stages/operate/tools/target-node.ts'
import type { Workspace } from '#stages/operate/workspace/open-workspace.ts'

/** Holds what a person wrote: the texts of `-i key=JSON`, which override the values of `--inputs`. */
export type GivenInputs = { texts: ReadonlyMap<string, string>; values: Readonly<Record<string, unknown>> }

/** Returns the inputs given, else `provided`. TOOL_002 names every missing, unknown or wrong one, and lists the declared. */
export function toolInputs(
  { path, declarations }: Pick<CompiledScript, 'path' | 'declarations'>,
  given: GivenInputs,
  provided: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const declared = new Map(declarations.inputs.map((input) => [input.name, input]))
  const faults = unknownFaults([...Object.keys(given.values), ...given.texts.keys()], declared)
  const values = new Map<string, unknown>()
  for (const { name, ...input } of declarations.inputs) {
    const text = given.texts.get(name)
    if (text !== undefined) {
      // A text that is not JSON counts as a string where the declared type includes `str`.
      const json = parseJson(text)
      const value = json === undefined && takesString(input.schema) ? text : json
      if (value !== undefined) values.set(name, value)
      else faults.push(`input ${name} is ${input.type}, and ${shown(text)} is no JSON`)
    } else if (Object.hasOwn(given.values, name)) values.set(name, given.values[name])
    else if (Object.hasOwn(provided, name)) values.set(name, provided[name])
    else if (!input.optional) faults.push(`input ${name}: ${input.type} is missing${wayTo(name)}`)
  }
  faults.push(...typeFaults(declarations.inputs, values))
  if (faults.length > 0)
    throw new AppError('TOOL_002', `${path}: ${faults.join('; ')}; ${theInputs(declarations.inputs)}`)
  return Object.fromEntries(values)
}

function unknownFaults(names: readonly string[], declared: ReadonlyMap<string, unknown>): string[] {
  const unknown = [...new Set(names)].filter((name) => !declared.has(name))
  return unknown.map((name) => {
    const near = nearest(name, [...declared.keys()])
    return `no input is named ${shown(name)}${near === undefined ? '' : ` (did you mean ${near}?)`}`
  })
}

function takesString(schema: JsonSchema): boolean {
  const members = schema['anyOf']
  return schema['type'] === 'string' || (Array.isArray(members) && members.filter(isRecord).some(takesString))
}

function typeFaults(inputs: readonly InputDeclaration[], values: ReadonlyMap<string, unknown>): string[] {
  return inputs.flatMap((input) => {
    const value = values.get(input.name)
    if (!values.has(input.name)) return []
    const checked = validateArguments(inputSchema({ inputs: [input] }), { [input.name]: value })
    if (checked.ok) return []
    const wantsQuotes = takesString(input.schema) && ['number', 'boolean'].includes(typeof value)
    const hint = wantsQuotes ? ` (for the text, write -i '${input.name}="${String(value)}"')` : ''
    return checked.faults.map((fault) => `${fault}${hint}`)
  })
}

const ofNode = new Set(['node_text', 'node_name', 'node_kind', 'node_id', 'file_path', 'language', 'files'])

function wayTo(name: string): string {
  if (ofNode.has(name)) return ' (--node would bring it)'
  return name === 'settings' ? ' (a bundle.yaml in its folder or the one above would bring it)' : ''
}

function theInputs(inputs: readonly InputDeclaration[]): string {
  const list = inputs.map(({ name, type, optional }) => `${name}: ${type}${optional ? ' (optional)' : ''}`)
  return list.length === 0 ? 'the script has no inputs' : `the inputs are ${list.join(', ')}`
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** Reads `--inputs`; `-` is standard input. DISC_005 if it cannot be read, TOOL_002 if it is no JSON object. */
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

/**
 * Returns the inputs that a worker would provide: those of the node, when there is one (of `files`, the node's own file alone),
 * and the default settings, when the script belongs to a bundle. AGENT_001 when `wanted` has `settings` and the bundle
 * is broken.
 */
export async function workerInputs(
  script: string,
  wanted: ReadonlySet<string>,
  { target, workspace }: { target: TargetNode | undefined; workspace: Workspace },
): Promise<Record<string, unknown>> {
  const known: Record<string, () => unknown> = {
    ...(target && nodeInputs(target, workspace, async () => [])),
    workspace_id: () => 'tool-run',
    settings: () => defaultSettings(script),
  }
  const names = [...wanted].filter((name) => Object.hasOwn(known, name))
  const values = await Promise.all(names.map(async (name) => [name, await known[name]?.()] as const))
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

async function defaultSettings(script: string): Promise<Record<string, unknown> | undefined> {
  const bundle = await bundleOfScript(script)
  if (bundle === undefined) return undefined
  const { file, faults } = bundle.yaml
  if (file === undefined) throw bundleInvalid(faults)
  return resolveSettings({ file }, {})
}
