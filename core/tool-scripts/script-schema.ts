import type { JsonSchema } from '#domain/turn.ts'
import type { ScriptDeclarations } from './script-declarations.ts'

export type ObjectSchema = {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/**
 * The schema of a script's inputs. The default of an optional input stands in its property, unless it is None: absent.
 */
export function inputSchema({ inputs }: Pick<ScriptDeclarations, 'inputs'>): ObjectSchema {
  const entries = inputs.map(
    (input) =>
      [
        input.name,
        { ...input.schema, ...((input.default ?? null) === null ? {} : { default: input.default }) },
      ] as const,
  )
  return {
    type: 'object',
    properties: Object.fromEntries(entries),
    required: inputs.filter((input) => !input.optional).map((input) => input.name),
    additionalProperties: false,
  }
}
