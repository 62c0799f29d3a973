import type { hostSignatures } from '#tool-scripts/host-signatures.ts'
import type { Tool } from '../tool-set.ts'

/** What each host function does to anything but its answer. A question to a person ends the run of its script. */
const effects: Readonly<Record<keyof typeof hostSignatures, Tool['effects']>> = {
  read_file: 'reads',
  file_exists: 'reads',
  list_dir: 'reads',
  run_linter: 'reads',
  describe_definition: 'reads',
  log: 'reads',
  write_file: 'writes',
  apply_lint_fix: 'writes',
  edit_node: 'writes',
  insert_docstring: 'writes',
  ask_user: 'writes',
  submit_result: 'writes',
}

const reading: ReadonlySet<string> = new Set(
  Object.entries(effects).flatMap(([name, does]) => (does === 'reads' ? [name] : [])),
)

/** What a script can do at most, by what it declares: the host functions are its only way out. */
export function effectsOf(externals: readonly { name: string }[]): Tool['effects'] {
  return externals.every(({ name }) => reading.has(name)) ? 'reads' : 'writes'
}
