import type { Edit } from '#domain/change-set.ts'
import { changedRuns } from '#platform/changed-ranges.ts'

/** The lines of a longer hunk count as rewritten and are not compared one by one. */
const maxLineByLine = 500

/**
 * Returns the edits that turn `base` into `target`, as small as possible, so that the same fix by two operations is the same edit. A long
 * rewrite is one edit from the first change to the last. Throws TypeError when `target` is not UTF-8.
 */
export function editsBetween(base: Uint8Array, target: Uint8Array): Edit[] {
  const shared = sharedWholeLines(base, target)
  const before = linesOf(base.subarray(shared.head, base.length - shared.tail))
  const after = linesOf(target.subarray(shared.head, target.length - shared.tail))
  const edits: Edit[] = []
  let at = shared.head
  let line = 0
  for (const run of changedRuns(before, after)) {
    at += lengthOf(before.slice(line, run.before.start))
    const removed = before.slice(run.before.start, run.before.end)
    edits.push(...hunkEdits(at, removed, after.slice(run.after.start, run.after.end)))
    at += lengthOf(removed)
    line = run.before.end
  }
  return edits
}

function hunkEdits(start: number, removed: readonly string[], added: readonly string[]): Edit[] {
  const isLineByLine = removed.length === added.length && removed.length <= maxLineByLine
  if (!isLineByLine) return trimmedEdit(start, removed.join(''), added.join(''))
  const edits: Edit[] = []
  let at = start
  for (const [index, line] of removed.entries()) {
    edits.push(...trimmedEdit(at, line, added[index] ?? ''))
    at += line.length
  }
  return edits
}

function trimmedEdit(start: number, from: string, to: string): Edit[] {
  if (from === to) return []
  const least = Math.min(from.length, to.length)
  let head = 0
  while (head < least && from[head] === to[head]) head++
  while (head > 0 && isInCharacter(to, head)) head--
  let tail = 0
  while (tail < least - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++
  while (tail > 0 && isInCharacter(to, to.length - tail)) tail--
  const text = utf8.decode(Buffer.from(to.slice(head, to.length - tail), 'latin1'))
  return [{ start: start + head, end: start + from.length - tail, text }]
}

/** A byte order mark is text like any other. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Is true when the byte at `index` continues the character of the byte before it. */
function isInCharacter(bytes: string, index: number): boolean {
  return index < bytes.length && (bytes.charCodeAt(index) & 0xc0) === 0x80
}

/** Counts the bytes that both share at their ends, in whole lines: only the rest needs a line diff. */
function sharedWholeLines(base: Uint8Array, target: Uint8Array): { head: number; tail: number } {
  const least = Math.min(base.length, target.length)
  let head = 0
  while (head < least && base[head] === target[head]) head++
  while (head > 0 && base[head - 1] !== newline) head--
  let tail = 0
  while (tail < least - head && base[base.length - 1 - tail] === target[target.length - 1 - tail]) tail++
  while (tail > 0 && !startsLine(base, base.length - tail, head)) tail--
  while (tail > 0 && !startsLine(target, target.length - tail, head)) tail = nextShorterTail(base, tail)
  return { head, tail }
}

const newline = 10

function startsLine(bytes: Uint8Array, at: number, floor: number): boolean {
  return at === floor || bytes[at - 1] === newline
}

function nextShorterTail(base: Uint8Array, tail: number): number {
  let shorter = tail - 1
  while (shorter > 0 && base[base.length - shorter - 1] !== newline) shorter--
  return shorter
}

/** One character for each byte, so that every byte is compared as it is. */
function linesOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}
