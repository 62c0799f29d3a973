import type { JsonSchema } from '#domain/turn.ts'

/** A position in the author's source: line 1-based, column 1-based in UTF-16 units. */
export type SourcePosition = { line: number; column: number }

/** `name: T = Input("name", default=…)`. `optional` means a default was given; `null` stands for Python's `None`. */
export type InputDeclaration = SourcePosition & {
  name: string
  /** The annotation as it is written. */
  type: string
  schema: JsonSchema
  optional: boolean
  default?: unknown
}

export type ExternalParameter = { name: string; type: string; schema: JsonSchema; default?: unknown }

/** `@external [async] def f(p: T, …) -> T: ...`. Parameters are in the order in which the host gets the arguments. */
export type ExternalDeclaration = SourcePosition & {
  name: string
  isAsync: boolean
  parameters: ExternalParameter[]
  returns: string
  returnsSchema: JsonSchema
}

export type ScriptDeclarations = { inputs: InputDeclaration[]; externals: ExternalDeclaration[] }

/** Codes of features.md G2. `E000` is a script that does not parse, or that the sandbox has no way to run. */
export type ScriptFaultCode =
  | `E00${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`
  | `E01${0 | 1 | 2 | 3}`
  | 'E100'
  | `W00${1 | 2 | 3 | 4 | 5 | 6 | 7}`

export type ScriptFault = SourcePosition & { code: ScriptFaultCode; severity: 'error' | 'warning'; message: string }

/** A fault with its last line: what else is found inside a refused construct only says the same again. */
export type LocatedFault = ScriptFault & { endLine: number }
