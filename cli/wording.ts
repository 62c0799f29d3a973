import { relative } from 'node:path'
import type { NodeView } from '#domain/code-node.ts'
import { figure } from '#domain/figure.ts'
import { visibleName } from './terminal-text.ts'

/** Shows of an ISO time what a list shows: `2026-05-01 12:30`, in its own time zone. */
export function shortTime(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ')
}

/** Returns a line for each file, and under it one for each node in it. `nodes` must be sorted by path. */
export function nodeLines(nodes: readonly NodeView[]): string[] {
  const lines: string[] = []
  let file = ''
  for (const node of nodes) {
    if (node.path !== file) lines.push(visibleName((file = node.path)))
    const range = `${node.start_line}-${node.end_line}`
    if (node.kind !== 'file') lines.push(`  ${range.padEnd(11)} ${node.kind.padEnd(10)} ${node.qualified_name}`)
  }
  return lines
}

/** Returns a path relative to the folder `cwd` if it lies in it, else absolute. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path)
  return shown === '' || shown.startsWith('..') ? path : shown
}

/** Returns a word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns labels with their values, a line each, the values aligned; empty values are left out. */
export function labelledLines(rows: readonly (readonly [label: string, value: string])[]): string[] {
  return rows.flatMap(([label, value]) => (value === '' ? [] : [`${label.padEnd(11)} ${value}`]))
}

/** Returns blocks of lines with an empty line between them; empty blocks are left out. */
export function joinBlocks(blocks: readonly (readonly string[])[]): string {
  const texts = blocks.flatMap((block) => (block.length === 0 ? [] : [block.join('\n')]))
  return `${texts.join('\n\n')}\n`
}

/** `1.05 / 1,108`: the requests and tokens for each of so many changes; empty where there is none, or no model was asked. */
export function costOfEach({ requests, tokens }: { requests: number; tokens: number }, changes: number): string {
  return changes === 0 || requests === 0
    ? ''
    : `${(requests / changes).toFixed(2)} / ${figure(Math.round(tokens / changes))}`
}

/** Returns what a program that failed has said. */
export function wordsOf(error: unknown): string {
  if (error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr !== '') {
    return error.stderr.trim().slice(0, 1000)
  }
  return error instanceof Error ? error.message : String(error)
}
