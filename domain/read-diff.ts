/** A line of a hunk. `before` and `after` are its numbers in the two versions; it has none in the one that it is not in. */
export type DiffLine = {
  kind: 'same' | 'added' | 'removed'
  before: number | undefined
  after: number | undefined
  text: string
  /** Is set where a reader should see how the line ends: with the rarer of two line ends, or with none. */
  end: LineEnd | undefined
}
export type LineEnd = '␍' | '␊' | 'no newline'

export type Hunk = {
  lines: readonly DiffLine[]
  /** Counts the unchanged lines above it that the diff leaves out. */
  skipped: number
}

export type FileDiff = {
  /** Is the name after the change; of a deleted file the one before. */
  path: string
  kind: 'edit' | 'create' | 'delete' | 'rename'
  renamedFrom: string | undefined
  /** Has what a reader should know besides the lines: that the file became executable, or is no text. */
  notes: readonly string[]
  hunks: readonly Hunk[]
  added: number
  removed: number
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/**
 * Reads a unified diff as git and the API write it, and one in which hidden secrets have joined lines: jsdiff's parser refuses that.
 * The text of the lines is as it stands in the files, but for a carriage return at the end.
 */
export function parseDiff(diff: string): FileDiff[] {
  const lines = diff.replace(/\n$/, '').split('\n')
  const files: FileDiff[] = []
  for (let at = 0; at < lines.length;) {
    if (lines[at]?.startsWith('diff --git ') !== true) {
      at += 1
      continue
    }
    const head = readHead(lines, at)
    const body = readHunks(lines, head.next)
    files.push(fileOf(head, body.hunks))
    at = body.next
  }
  return files
}

type Head = { lines: readonly string[]; next: number }

/** Reads the lines of a file's head, up to its first hunk or the next file. */
function readHead(lines: readonly string[], start: number): Head {
  let next = start + 1
  while (next < lines.length && !/^(?:@@ -|diff --git )/.test(lines[next] ?? '')) next += 1
  return { lines: lines.slice(start, next), next }
}

function readHunks(lines: readonly string[], start: number): { hunks: Hunk[]; next: number } {
  const hunks: Hunk[] = []
  let next = start
  let shownUntil = 0
  for (;;) {
    const head = hunkHead.exec(lines[next] ?? '')
    if (head === null) break
    const [before = 0, beforeLines = 1, after = 0, afterLines = 1] = head
      .slice(1)
      .map((digits) => (digits === undefined ? undefined : Number(digits)))
    // An empty side is said to start one line earlier.
    const first = beforeLines === 0 ? before + 1 : before
    const counters = { before: first, after: afterLines === 0 ? after + 1 : after }
    const read = readLines(lines, next + 1, { counters, before: beforeLines, after: afterLines })
    hunks.push({ lines: read.lines, skipped: Math.max(0, first - 1 - shownUntil) })
    shownUntil = first - 1 + beforeLines
    next = read.next
  }
  return { hunks: markedEnds(hunks), next }
}

type Left = { counters: { before: number; after: number }; before: number; after: number }

/** Reads as many lines as the head of the hunk has promised: a removed line may itself look like a head. */
function readLines(lines: readonly string[], start: number, given: Left): { lines: DiffLine[]; next: number } {
  const { counters } = given
  const left = { before: given.before, after: given.after }
  const read: DiffLine[] = []
  let next = start
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    const last = read.at(-1)
    if (line.startsWith('\\')) {
      if (last !== undefined) last.end = 'no newline'
      continue
    }
    if (left.before <= 0 && left.after <= 0) break
    const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same'
    read.push({
      kind,
      before: kind === 'added' ? undefined : counters.before++,
      after: kind === 'removed' ? undefined : counters.after++,
      text: line.slice(1),
      end: undefined,
    })
    if (kind !== 'added') left.before -= 1
    if (kind !== 'removed') left.after -= 1
  }
  return { lines: read, next }
}

/** Takes the carriage returns off, and marks the rarer line end of a file that mixes them. */
function markedEnds(hunks: readonly Hunk[]): Hunk[] {
  const all = hunks.flatMap(({ lines }) => lines).filter(({ end }) => end !== 'no newline')
  const returns = all.filter(({ text }) => text.endsWith('\r')).length
  if (returns === 0) return [...hunks]
  const rarer = returns === all.length ? undefined : returns * 2 <= all.length ? '␍' : '␊'
  const marked = (line: DiffLine): DiffLine => {
    const isReturn = line.text.endsWith('\r')
    const end = line.end ?? (rarer !== undefined && isReturn === (rarer === '␍') ? rarer : undefined)
    return { ...line, text: isReturn ? line.text.slice(0, -1) : line.text, end }
  }
  return hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(marked) }))
}

function fileOf(head: Head, hunks: readonly Hunk[]): FileDiff {
  const after = (mark: string) => head.lines.find((line) => line.startsWith(mark))?.slice(mark.length)
  const side = (mark: string) => {
    const name = after(mark)
    return name === undefined || name === '/dev/null'
      ? undefined
      : unquoted(name.replace(/\t$/, '')).replace(/^[ab]\//, '')
  }
  const [from, to] = [after('rename from '), after('rename to ')].map((name) => name && unquoted(name))
  const isNew = after('new file mode ') !== undefined
  const isGone = after('deleted file mode ') !== undefined
  const lines = hunks.flatMap((hunk) => hunk.lines)
  return {
    path: side('+++ ') ?? to ?? side('--- ') ?? pathOfHead(head.lines[0] ?? ''),
    kind: isNew ? 'create' : isGone ? 'delete' : from === undefined ? 'edit' : 'rename',
    renamedFrom: from,
    notes: head.lines.flatMap(noteOf),
    hunks,
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  }
}

function noteOf(line: string): string[] {
  if (line === 'new mode 100755') return ['becomes executable']
  if (line === 'new mode 100644') return ['is no longer executable']
  if (line === 'new file mode 100755') return ['is executable']
  if (line === 'new file mode 120000') return ['is a symbolic link']
  return line.startsWith('Binary files ') || line === 'GIT binary patch' ? ['is no text'] : []
}

/** Both sides of the line have the same path: `diff --git a/PATH b/PATH`. */
function pathOfHead(line: string): string {
  const names = line.slice('diff --git '.length)
  return unquoted(names.slice(0, (names.length - 1) / 2)).replace(/^a\//, '')
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** Returns the path that git has written with escapes: `"\303\244"` are the bytes of `ä`. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name
  const encoder = new TextEncoder()
  const bytes = name
    .slice(1, -1)
    .split(/(\\(?:[0-7]{3}|.))/)
    .flatMap((part) => {
      if (!part.startsWith('\\') || part.length === 1) return [...encoder.encode(part)]
      const code = part.slice(1)
      if (/^[0-7]{3}$/.test(code)) return [Number.parseInt(code, 8)]
      const control = escapes[code]
      return control === undefined ? [...encoder.encode(code)] : [control]
    })
  return new TextDecoder().decode(new Uint8Array(bytes))
}
