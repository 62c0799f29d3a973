import { hash } from 'node:crypto'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from 'diff'

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
  const names = {
    oldFileName: before === null ? '/dev/null' : `a/${path}`,
    newFileName: after === null ? '/dev/null' : `b/${path}`,
    oldHeader: undefined,
    newHeader: undefined,
  }
  const isEdit = before !== null && after !== null
  const modes = isEdit && executable === undefined ? {} : modesOf(executable === true, isEdit)
  const made = { ...names, ...modes, isGit: true, isCreate: before === null, isDelete: after === null }
  const head = formatPatch({ ...made, hunks: [] })
  const index = isSame ? '' : `index ${gitBlobId(before)}..${gitBlobId(after)}\n`
  const hunks = hunksOf(latin1(before), latin1(after), context)
  const body = hunks.length === 0 ? '' : withTabs(formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY))
  return Buffer.from(head + index + body, 'latin1')
}

export type LineCounts = { added: number; removed: number }

/** Counts the lines that one file's change adds and removes: a changed line is one of each. */
export function countChangedLines({ before, after }: Pick<FileVersions, 'before' | 'after'>): LineCounts {
  const lines = hunksOf(latin1(before), latin1(after), 0).flatMap((hunk) => hunk.lines)
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
  return { added: count('+'), removed: count('-') }
}

/** A file that is edited had the other mode before. */
function modesOf(executable: boolean, isEdit: boolean): { oldMode: string; newMode: string } {
  const modeOf = (is: boolean) => (is ? '100755' : '100644')
  return { oldMode: modeOf(isEdit ? !executable : executable), newMode: modeOf(executable) }
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

/** A tab ends a name that holds a space, or readers take it for the start of a date. */
function withTabs(body: string): string {
  const names = /^--- .*\n\+\+\+ .*\n/.exec(body)?.[0] ?? ''
  return names.replaceAll(/^((?:---|\+\+\+) [^"\n]* [^"\n]*)$/gm, '$1\t') + body.slice(names.length)
}

function gitBlobId(content: Uint8Array | null): string {
  if (content === null) return noBlob
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), 'hex')
}
