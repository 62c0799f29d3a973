import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeNode } from '#domain/code-node.ts'
import { discoverFolder } from '../../services/discovery/discover/discover-folder.ts'
import { astDefinitions } from './ast-definitions.ts'
import { compareDefinitions, type Comparison } from './compare-definitions.ts'
import { grammarFaults } from './grammar-faults.ts'

export type Agreement = {
  /** Files both sides read, their definitions by ast, and of these what is the same in ours in everything. */
  files: number
  definitions: number
  agreed: number
  differences: { path: string; text: string }[]
  /** What of it lies in files the grammar is known to fail on. */
  faulty: { files: number; definitions: number; agreed: number }
  /** Python files only one side reads, or neither, with the reason; a folder that is passed over with its number. */
  apart: { path: string; reason: string; files: number }[]
}

/** Compares what discovery finds in the Python files below `folder` with what the ast module of `python` finds. */
export async function measureAgreement(folder: string, python: string): Promise<Agreement> {
  const filters = { languages: ['python'] }
  const found = await discoverFolder(folder, { filters, threads: 0 }, new AbortController().signal)
  const ours = Map.groupBy(found.nodes, (node) => node.path)
  const paths = [...ours.keys()]
  const theirs = await astDefinitions(python, folder, paths)
  const passedOver = found.skipped.filter(({ path }) => !ours.has(path))
  const agreement: Agreement = {
    files: 0,
    definitions: 0,
    agreed: 0,
    differences: [],
    faulty: { files: 0, definitions: 0, agreed: 0 },
    apart: [],
  }
  for (const { path, reason } of passedOver) {
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
