import type { Program, Programs } from './program.ts'

/** `npx remora …` in a folder, as a new user would call it: with no settings but those given here. */
export function remora(
  programs: Programs,
  folder: { path: string },
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  return programs.start(['cli/remora.mjs', ...args], { env: { HOME: folder.path, ...env }, cwd: folder.path })
}

/** The last line of what a program printed, which `--json` promises to be a document. */
export function lastDocument(program: Pick<Program, 'out'>): unknown {
  return JSON.parse(program.out().trimEnd().split('\n').at(-1) ?? '')
}
