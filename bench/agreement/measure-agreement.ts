import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeNode } from '#domain/code-node.ts'
import { discoverFolder } from '#stages/discover/discover-folder.ts'
import { astDefinitions, type Definition } from './python-ast.ts'

export type Agreement = {
  /** The number of files that both sides read, of the definitions that ast finds in them, and of those that are exactly the same in ours. */
  files: number
  definitions: number
  agreed: number
  differences: { path: string; text: string }[]
  /** The same counts for the files the grammar is known to fail on. */
  faulty: { files: number; definitions: number; agreed: number }
  /** Python files that at most one side reads, with the reason; a skipped folder with its number of files. */
  apart: { path: string; reason: string; files: number }[]
}

/** Compares what discovery finds in the Python files below `folder` with what the ast module of `python` finds. */
export async function measureAgreement(folder: string, python: string): Promise<Agreement> {
  const filters = { languages: ['python'] }
  const found = await discoverFolder(folder, { filters, threads: 0 }, new AbortController().signal)
  const ours = Map.groupBy(found.nodes, (node) => node.path)
  const paths = [...ours.keys()]
  const theirs = await astDefinitions(python, folder, paths)
  const skipped = found.skipped.filter(({ path }) => !ours.has(path))
  const agreement: Agreement = {
    files: 0,
    definitions: 0,
    agreed: 0,
    differences: [],
    faulty: { files: 0, definitions: 0, agreed: 0 },
    apart: [],
  }
  for (const { path, reason } of skipped) {
    const files = await countSources(join(folder, path))
    if (files > 0) agreement.apart.push({ path, reason, files })
  }
  for (const [path, nodes] of ours) {
    const answer = theirs.get(path)
    if (answer === undefined) throw new Error(`no answer for ${path}`)
    if ('refused' in answer) agreement.apart.push({ path, reason: `ast refuses it: ${answer.refused}`, files: 1 })
    else addFile(agreement, path, compareDefinitions(withoutFile(nodes), answer.definitions), answer.definitions.length)
  }
  return agreement
}

function addFile(agreement: Agreement, path: string, { agreed, differences }: Comparison, definitions: number): void {
  for (const sum of grammarFaults[path] === undefined ? [agreement] : [agreement, agreement.faulty]) {
    sum.files++
    sum.definitions += definitions
    sum.agreed += agreed
  }
  agreement.differences.push(...differences.map((text) => ({ path, text })))
}

function withoutFile(nodes: readonly CodeNode[]): CodeNode[] {
  return nodes.filter((node) => node.kind !== 'file')
}

/** Python files at or below a path. */
async function countSources(path: string): Promise<number> {
  if (/\.pyi?$/.test(path)) return 1
  const entries = await readdir(path, { recursive: true }).catch(() => [])
  return entries.filter((name) => /\.pyi?$/.test(name)).length
}

type Comparison = {
  /** The definitions that ast finds and that are among ours with the same kind, name, lines and bytes. */
  agreed: number
  /** One sentence for each definition that only one side has, or that the two sides describe differently. */
  differences: string[]
}

/** Compares two lists of one file's definitions. Names are compared in form NFKC, as Python itself compares them. */
export function compareDefinitions(ours: readonly Definition[], theirs: readonly Definition[]): Comparison {
  const left = new Map(Map.groupBy(ours, textOf))
  const unmatched: Definition[] = []
  for (const definition of theirs) {
    if (left.get(textOf(definition))?.pop() === undefined) unmatched.push(definition)
  }
  const extra = [...left.values()].flat()
  const differences = unmatched.map((missing) => {
    const near = extra.findIndex((one) => one.startByte === missing.startByte || one.endByte === missing.endByte)
    const [other] = near === -1 ? [] : extra.splice(near, 1)
    return other === undefined ? `only ast: ${textOf(missing)}` : `ast: ${textOf(missing)}; ours: ${textOf(other)}`
  })
  differences.push(...extra.map((one) => `only ours: ${textOf(one)}`))
  return { agreed: theirs.length - unmatched.length, differences }
}

function textOf({ kind, qualifiedName, startLine, endLine, startByte, endByte }: Definition): string {
  const name = qualifiedName.normalize('NFKC')
  return `${kind} ${name} lines ${startLine}-${endLine} bytes ${startByte}-${endByte}`
}

/** Files of the standard library that the grammar does not read as Python does: path → the construct it fails on. */
export const grammarFaults: Readonly<Record<string, string>> = {
  'test/test_compile.py':
    'within brackets, a line that ends in the dot of an attribute and goes on less indented than its block ' +
    '(`(bar.⏎baz)`): tree-sitter-python ends the block there, so what follows is no longer in its class',
}
