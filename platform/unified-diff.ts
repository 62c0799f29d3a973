import { hash } from 'node:crypto'
import { structuredPatch, type StructuredPatchHunk } from 'diff'

/** `null` before is a new file, after a deleted one. `executable`: what a new file is, a deleted one was, and another becomes. */
export type FileVersions = {
  path: string
  before: Uint8Array | null
  after: Uint8Array | null
  executable?: boolean | undefined
}

const noBlob = '0'.repeat(40)
export const usualContext = 3
/** Files that differ in more lines than this are shown as replaced whole: the shortest diff of them costs too much. */
const maxEditLength = 1500

/**
 * Returns one file's change as `git apply` takes it, empty for none. Works on bytes: line endings and what is no UTF-8 stay as
 * they are. Names blobs by git's own ids, so that `--3way` works.
 */
export function unifiedDiff(
  { path, before, after, executable }: FileVersions,
  { context = usualContext }: { context?: number } = {},
): Uint8Array {
  const isSame = before === null ? after === null : after !== null && Buffer.compare(before, after) === 0
  if (isSame && executable === undefined) return Buffer.alloc(0)
  const lines = [`diff --git ${gitPath(`a/${path}`)} ${gitPath(`b/${path}`)}`]
  if (before === null) lines.push(`new file mode ${modeOf(executable)}`)
  else if (after === null) lines.push(`deleted file mode ${modeOf(executable)}`)
  else if (executable !== undefined) lines.push(`old mode ${modeOf(!executable)}`, `new mode ${modeOf(executable)}`)
  if (!isSame) lines.push(`index ${gitBlobId(before)}..${gitBlobId(after)}`)
  const hunks = hunksOf(latin1(before), latin1(after), context)
  if (hunks.length > 0) {
    lines.push(`--- ${before === null ? '/dev/null' : headerPath(`a/${path}`)}`)
    lines.push(`+++ ${after === null ? '/dev/null' : headerPath(`b/${path}`)}`)
  }
  for (const hunk of hunks) {
    lines.push(headOfHunk(hunk))
    for (const line of hunk.lines) lines.push(line) // not push(...lines): a hunk may have more than an argument list
  }
  return Buffer.from(`${lines.join('\n')}\n`, 'latin1')
}

export type LineCounts = { added: number; removed: number }

/** Counts the lines that one file's change adds and removes: a changed line is one of each. */
export function countChangedLines({ before, after }: Pick<FileVersions, 'before' | 'after'>): LineCounts {
  const lines = hunksOf(latin1(before), latin1(after), 0).flatMap((hunk) => hunk.lines)
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
  return { added: count('+'), removed: count('-') }
}

function modeOf(executable: boolean | undefined): string {
  return executable === true ? '100755' : '100644'
}

/** One character per byte, so that the diff may be taken of text and written back unchanged. */
function latin1(content: Uint8Array | null): string {
  return content === null ? '' : Buffer.from(content).toString('latin1')
}

function hunksOf(before: string, after: string, context: number): StructuredPatchHunk[] {
  if (before === '' || after === '') return before === after ? [] : [wholeReplaced(before, after)]
  const patch = structuredPatch('a', 'b', before, after, undefined, undefined, { context, maxEditLength })
  return patch === undefined ? [wholeReplaced(before, after)] : patch.hunks
}

function wholeReplaced(before: string, after: string): StructuredPatchHunk {
  const [removed, added] = [marked(before, '-'), marked(after, '+')]
  const lines = [...removed.lines, ...added.lines]
  return { oldStart: 1, oldLines: removed.count, newStart: 1, newLines: added.count, lines }
}

function marked(text: string, mark: '-' | '+'): { lines: string[]; count: number } {
  const lines = text.split('\n')
  const endsWithNewline = lines.at(-1) === ''
  if (endsWithNewline) lines.pop()
  const all = lines.map((line) => mark + line)
  const isComplete = endsWithNewline || text === ''
  return { lines: isComplete ? all : [...all, '\\ No newline at end of file'], count: all.length }
}

/** An empty side starts one line earlier than its first line would: the unified format's own rule. */
function headOfHunk(hunk: StructuredPatchHunk): string {
  const oldStart = hunk.oldLines === 0 ? hunk.oldStart - 1 : hunk.oldStart
  const newStart = hunk.newLines === 0 ? hunk.newStart - 1 : hunk.newStart
  return `@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`
}

/** A tab ends a name that holds a space, or readers take it for the start of a date. */
function headerPath(path: string): string {
  const name = gitPath(path)
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name
}

function gitBlobId(content: Uint8Array | null): string {
  if (content === null) return noBlob
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), 'hex')
}

const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

function gitPath(path: string): string {
  const bytes = Buffer.from(path)
  if (bytes.every((byte) => isPlain(byte) && escapes[byte] === undefined)) return path
  const quoted = Array.from(bytes, (byte) => escapes[byte] ?? (isPlain(byte) ? String.fromCharCode(byte) : octal(byte)))
  return `"${quoted.join('')}"`
}

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}
