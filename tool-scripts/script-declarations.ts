import type { JsonSchema } from '#domain/turn.ts'

/** A position in the author's source: line 1-based, column 1-based in UTF-16 units. */
export type SourcePosition = { line: number; column: number }

/** `name: T = Input("name", default=…)`. `optional` means a default was given; `null` stands for Python's `None`. */
export type InputDeclaration = SourcePosition & {
  name: string
  type: string
  schema: JsonSchema
  optional: boolean
  default?: unknown
}

export type ExternalParameter = { name: string; type: string; schema: JsonSchema; default?: unknown }

/** `@external [async] def f(p: T, …) -> T: ...`. Arguments are passed in the order of the parameters. */
export type ExternalDeclaration = SourcePosition & {
  name: string
  isAsync: boolean
  parameters: ExternalParameter[]
  returns: string
  returnsSchema: JsonSchema
}

export type ScriptDeclarations = { inputs: InputDeclaration[]; externals: ExternalDeclaration[] }

/** The codes of docs/guide/tool-scripts.md. `E000`: the script does not parse, or the sandbox cannot run it. */
export type ScriptFaultCode =
  | `E00${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`
  | `E01${0 | 1 | 2 | 3}`
  | 'E100'
  | `W00${1 | 2 | 3 | 4 | 5 | 6 | 7}`

export type ScriptFault = SourcePosition & { code: ScriptFaultCode; severity: 'error' | 'warning'; message: string }

/** A fault with its last line: other faults inside a refused construct would only repeat it. */
export type LocatedFault = ScriptFault & { endLine: number }

/** A fault of one line; codes that start with W are warnings. */
export function faultAt({ line, column }: SourcePosition, code: ScriptFaultCode, message: string): LocatedFault {
  return { code, severity: code.startsWith('W') ? 'warning' : 'error', line, column, message, endLine: line }
}

export type ObjectSchema = {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/** The default of an optional input is in its property, or absent if it is None. */
export function inputSchema({ inputs }: Pick<ScriptDeclarations, 'inputs'>): ObjectSchema {
  const entries = inputs.map(({ name, schema, default: value = null }) => {
    return [name, value === null ? schema : { ...schema, default: value }] as const
  })
  return {
    type: 'object',
    properties: Object.fromEntries(entries),
    required: inputs.filter((input) => !input.optional).map((input) => input.name),
    additionalProperties: false,
  }
}

/** The name under which the generated code calls an external, in the normal form that Python gives to identifiers. */
export function mangledName(external: string): string {
  return `__${external.normalize('NFKC')}`
}
