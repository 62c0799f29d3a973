import type { ExternalDeclaration } from './script-declarations.ts'
import { valueFaults } from './tool-arguments.ts'

/**
 * How the arguments of a call differ from what the script declares itself, in Python's words; undefined when they fit.
 * The process that runs scripts is not trusted to have sent what the declaration says.
 */
export function argumentFault(external: ExternalDeclaration, args: readonly unknown[]): string | undefined {
  const { name, parameters } = external
  if (args.length !== parameters.length) return `${name}() takes ${parameters.length} arguments, ${args.length} given`
  for (const [index, parameter] of parameters.entries()) {
    const value = args[index]
    if (value === null && parameter.default === null) continue
    const [fault] = valueFaults(parameter.schema, value, parameter.name)
    if (fault !== undefined) return `${name}(): ${fault}`
  }
  return undefined
}

/** How what the host answers differs from what the script declares, and the host thereby promised (E013). */
export function answerFault({ name, returnsSchema }: ExternalDeclaration, answer: unknown): string | undefined {
  const [fault] = valueFaults(returnsSchema, answer, 'its answer')
  return fault === undefined ? undefined : `the host answered ${name} off its declaration: ${fault}`
}
