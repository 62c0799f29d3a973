import { Monty } from '@pydantic/monty'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'

/** The two ways to a script that can run: from its code, and from the dump of one that was compiled. */
export function montyStarts({ montyCode, path, declarations }: CompiledScript): { compile(): Monty; load(): Monty } {
  const inputs = declarations.inputs.map(({ name }) => name)
  const compile = (): Monty => new Monty(montyCode, { scriptName: path, inputs })
  const dump = compile().dump()
  return { compile, load: () => Monty.load(dump) }
}
