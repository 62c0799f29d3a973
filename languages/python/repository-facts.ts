import type { Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { docstringFactsOf, FileDocstringFacts } from './docstring-facts.ts'
import { factNodesOf } from './fact-nodes.ts'
import { ModuleUses, moduleUsesOf } from './module-uses.ts'

/** Holds what a Python text says about the repository that it is in, wherever it is there. Discovery keeps it by the text's hash. */
export const RepositoryFacts = z.strictObject({ docstrings: FileDocstringFacts, uses: ModuleUses })
export type RepositoryFacts = z.infer<typeof RepositoryFacts>

/** Is raised whenever the same text gives other facts, so that stored ones are not used. */
export const repositoryFactsVersion = 1

export function repositoryFactsOf(tree: Tree, text: string, nodes = factNodesOf(tree)): RepositoryFacts {
  return { docstrings: docstringFactsOf(tree, text, nodes), uses: moduleUsesOf(tree, text, nodes) }
}
