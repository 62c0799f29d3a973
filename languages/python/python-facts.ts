import type { Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { docstringFactsOf, FileDocstringFacts } from './docstring-facts.ts'
import { ModuleUses, moduleUsesOf } from './module-uses.ts'

/** Holds what a Python text says about the repository that it is in, wherever it is there. Discovery keeps it by the text's hash. */
export const PythonFacts = z.strictObject({ docstrings: FileDocstringFacts, uses: ModuleUses })
export type PythonFacts = z.infer<typeof PythonFacts>

/** Is raised whenever the same text gives other facts, so that stored ones are not used. */
export const pythonFactsVersion = 1

export function pythonFactsOf(tree: Tree, text: string): PythonFacts {
  return { docstrings: docstringFactsOf(tree, text), uses: moduleUsesOf(tree, text) }
}
