import type { Tree } from 'web-tree-sitter'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { movedRange } from '#domain/rebase-edits.ts'
import { findDocstringSite, outermost } from '#languages/python/docstring-site.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import type { BuiltLayer, ChangedFile } from './built-layer.ts'

/** Finds the node in a layer that changes its file: a Python definition by kind and name, another by its moved range, with its name still in it. */
export function movedNode(
  node: CodeNode,
  layer: BuiltLayer,
  python: Pick<LoadedLanguage, 'read'>,
): CodeNode | undefined {
  const file = layer.changed(node.path)
  if (file === undefined) return node
  const { before, after } = file
  if (before === undefined || after === undefined) return undefined
  if (node.kind === 'file') return withRange(node, after, { start: 0, end: after.length })
  const range = node.language === 'python' ? movedPython(node, file, python) : movedText(node, file)
  return range && withRange(node, after, range)
}

type Range = { start: number; end: number }

function withRange(node: CodeNode, text: Uint8Array, { start, end }: Range): CodeNode {
  const bytes = text.subarray(start, end)
  const startLine = 1 + linesIn(text.subarray(0, start))
  const endLine = startLine + linesIn(bytes.subarray(0, Math.max(0, bytes.length - 1)))
  return { ...node, startByte: start, endByte: end, startLine, endLine, hash: sha256(bytes) }
}

const newline = 10

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}

function movedText(node: CodeNode, { before, after, edits }: ChangedFile): Range | undefined {
  const range = movedRange({ start: node.startByte, end: node.endByte }, edits)
  const [was, now] = [before?.subarray(node.startByte, node.endByte), after?.subarray(range.start, range.end)]
  const isNamed = (text: Uint8Array | undefined) => Buffer.from(text ?? '').includes(node.name)
  return range.start < range.end && (isNamed(now) || !isNamed(was)) ? range : undefined
}

/** A query pack may have kinds of its own, also for what is no definition: that is text. */
function movedPython(node: CodeNode, file: ChangedFile, python: Pick<LoadedLanguage, 'read'>): Range | undefined {
  const { before, after, edits } = file
  const [was, now] = [Buffer.from(before ?? ''), Buffer.from(after ?? '')]
  const definition = definitionAt(was, node.startByte, python)
  if (definition === undefined) return movedText(node, file)
  const { start } = movedRange({ start: node.startByte, end: node.endByte }, edits)
  const inserted = edits.find((edit) => edit.start === node.startByte && edit.end === node.startByte)
  const starts = inserted === undefined ? [start] : [start + Buffer.byteLength(inserted.text), start]
  for (const at of starts) {
    const moved = definitionAt(now, at, python)
    if (moved?.name === definition.name && moved.kind === definition.kind) {
      return { start: at, end: moved.end }
    }
  }
  return undefined
}

type Definition = { kind: 'function' | 'class'; name: string; end: number }

function definitionAt(text: Buffer, byte: number, python: Pick<LoadedLanguage, 'read'>): Definition | undefined {
  const source = text.toString()
  const index = text.subarray(0, byte).toString().length
  const definition = python.read(source, (tree: Tree) => {
    const site = findDocstringSite(tree, index)
    if (site === undefined) return undefined
    const name = site.definition.childForFieldName('name')?.text ?? ''
    return { kind: site.kind, name, end: outermost(site.definition).endIndex }
  })
  return definition && { ...definition, end: Buffer.byteLength(source.slice(0, definition.end)) }
}
