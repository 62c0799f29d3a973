import type { ExternalDeclaration } from './script-declarations.ts'
import { parseScript } from './parse-script.ts'

/** What the host answers under one name; whether a script declares it async or not is the script's choice. */
export type ExternalSignature = Pick<ExternalDeclaration, 'name' | 'parameters' | 'returns' | 'returnsSchema'>

/** Signatures by name, read from `@external` declarations: the host writes its own as Python, as scripts do. */
export async function readSignatures(source: string): Promise<ReadonlyMap<string, ExternalSignature>> {
  const { declarations, faults } = await parseScript(source)
  const [fault] = faults
  if (fault !== undefined) throw new Error(`signatures, line ${fault.line}: ${fault.message}`)
  return new Map(declarations.externals.map((external) => [external.name, external]))
}

/**
 * How a declared external differs from the host's, or undefined when every call the script can make is one the host
 * answers: the same leading parameters with the same types, the rest optional for the host, the same result.
 */
export function signatureFault(declared: ExternalSignature, known: ExternalSignature): string | undefined {
  for (const [index, parameter] of declared.parameters.entries()) {
    const expected = known.parameters[index]
    if (expected === undefined) return `has a parameter ${parameter.name} that the host does not take`
    if (expected.name !== parameter.name) return `has ${parameter.name} where the host takes ${expected.name}`
    if (!isSame(parameter.schema, expected.schema))
      return `takes ${parameter.name}: ${parameter.type}, the host ${expected.type}`
    if ('default' in parameter && !('default' in expected)) return `has a default for ${parameter.name}, the host none`
  }
  const missing = known.parameters.slice(declared.parameters.length).find((parameter) => !('default' in parameter))
  if (missing !== undefined) return `lacks the parameter ${missing.name}: ${missing.type}`
  if (!isSame(declared.returnsSchema, known.returnsSchema))
    return `returns ${declared.returns}, the host ${known.returns}`
  return undefined
}

function isSame(left: unknown, right: unknown): boolean {
  const texts = [JSON.stringify(left), JSON.stringify(right)]
  return texts[0] === texts[1] || texts.includes('{}')
}
