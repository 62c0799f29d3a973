import { faultOfGlobs, pathGlobs } from '#domain/path-globs.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import { type Workspace, WorkspaceFault, refusal } from './open-workspace.ts'

const maxPaths = 10_000
const [maxFiles, maxBytes] = [2_000, 20_000_000]
const readsAtOnce = 16
const maxLines = 1_000
const maxLineCharacters = 500
const maxPatternCharacters = 1_000

/** Lists files that match `pattern`, or lie in a folder that does, sorted; all for an empty one. WorkspaceFault too-large for more than 10,000. */
export function findFiles(workspace: Pick<Workspace, 'list'>, pattern: string): string[] {
  const fault = faultOfGlobs([pattern])
  if (fault !== undefined) throw refusal(fault)
  const isWanted = pathGlobs([pattern])
  const matches: string[] = []
  for (const path of filesBelow(workspace, folderNamedBy(pattern))) {
    if (!isWanted(path)) continue
    if (matches.length === maxPaths) throw tooMany(`${maxPaths} files match`)
    matches.push(path)
  }
  return matches.toSorted()
}

function* filesBelow(workspace: Pick<Workspace, 'list'>, folder: string): Generator<string> {
  for (const name of workspace.list(folder)) {
    const path = folder === '' ? name : `${folder}/${name}`
    if (path.endsWith('/')) yield* filesBelow(workspace, path.slice(0, -1))
    else yield path
  }
}

/** The folder that everything which matches is in: only what is in it is listed, and recorded as read. */
function folderNamedBy(pattern: string): string {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
  const special = segments.findIndex((segment) => /[*?[{\\]/.test(segment))
  return segments.slice(0, special < 0 ? -1 : special).join('/')
}

function tooMany(what: string): WorkspaceFault {
  return new WorkspaceFault('too-large', `more than ${what}: look for less at once`)
}

/** `text` is one that a line has, or a regular expression of JavaScript that it matches; `paths` as for `findFiles`. */
export type SearchQuery = { text: string; isExpression: boolean; paths: string }

export type FoundLine = { path: string; line: number; text: string }

/** Finds lines in files that are text. WorkspaceFault: refused for a bad or slow expression, too-large for over 1,000 lines, 2,000 files or 20 MB. */
export async function searchFiles(
  workspace: Pick<Workspace, 'list' | 'readText'>,
  { text, isExpression, paths }: SearchQuery,
  searcher: Pick<LineSearcher, 'find'>,
): Promise<FoundLine[]> {
  if (text === '') throw refusal('there is nothing to look for')
  if (text.length > maxPatternCharacters)
    throw refusal(`what is looked for has more than ${maxPatternCharacters} characters`)
  const files = findFiles(workspace, paths)
  if (files.length > maxFiles) throw tooMany(`${maxFiles} files to look at`)
  const lines = await searcher.find({ text, isExpression }, () => readableTexts(workspace, files))
  if (lines.length > maxLines) throw tooMany(`${maxLines} lines found`)
  return lines
}

type Texts = readonly { path: string; text: string }[]

async function readableTexts(workspace: Pick<Workspace, 'readText'>, paths: readonly string[]): Promise<Texts> {
  let bytes = 0
  const texts = await mapBounded(paths, readsAtOnce, async (path) => {
    const text = await readIfText(workspace, path)
    bytes += Buffer.byteLength(text ?? '')
    if (bytes > maxBytes) throw tooMany(`${maxBytes} bytes to look at`)
    return text === undefined ? [] : { path, text }
  })
  return texts.flat()
}

async function readIfText(workspace: Pick<Workspace, 'readText'>, path: string): Promise<string | undefined> {
  try {
    return await workspace.readText(path)
  } catch (error) {
    if (error instanceof WorkspaceFault && error.kind === 'not-text') return undefined
    throw error
  }
}

/** Reads texts of a workspace; undefined for what is no path, no file or no text in it. */
export function textReader(
  workspace: Pick<Workspace, 'exists' | 'readText'>,
): (path: string) => Promise<string | undefined> {
  return async (path) => {
    const isThere = RepoPath.safeParse(path).success && workspace.exists(path)
    return isThere ? readIfText(workspace, path) : undefined
  }
}

/** Returns one more line than may be found, when there are more. */
export function linesIn(texts: Texts, isWanted: (line: string) => boolean): FoundLine[] {
  const lines: FoundLine[] = []
  for (const { path, text } of texts) {
    for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
      if (!isWanted(line)) continue
      lines.push({ path, line: at + 1, text: line.slice(0, maxLineCharacters).toWellFormed() })
      if (lines.length > maxLines) return lines
    }
  }
  return lines
}

type Wanted = Pick<SearchQuery, 'text' | 'isExpression'>
export type LineSearch = Wanted & { texts: Texts }

export type LineSearcher = {
  /** Reads the texts when it is its turn, for memory. WorkspaceFault refused for a bad or too slow expression. */
  find(wanted: Wanted, readTexts: () => Promise<Texts>): Promise<FoundLine[]>
  /** Ends the threads, if there are any; running searches fail. Safe to call twice. */
  close(): Promise<void>
}

const searchesAtOnce = 2

/** Searches in threads: one that takes longer than `limitMs` is ended, since matching may take exponential time. */
export function openLineSearcher({ limitMs = 2_000 }: { limitMs?: number } = {}): LineSearcher {
  const entry = new URL('./search-thread.ts', import.meta.url)
  const pool = openThreadPool<LineSearch, FoundLine[]>({
    entry,
    name: 'the search',
    limitMs,
    threads: searchesAtOnce,
    requestsPerThread: 1,
  })
  const turns = openSemaphore(searchesAtOnce)
  return {
    async find(wanted, readTexts) {
      if (wanted.isExpression) requireExpression(wanted.text)
      const giveBack = await turns.acquire(new AbortController().signal)
      try {
        const answer = await pool.ask({ ...wanted, texts: await readTexts() })
        if (answer.kind === 'report') return answer.report
        throw refusal(`this cannot be looked for: ${answer.why}`)
      } finally {
        giveBack()
      }
    },
    close: pool.close,
  }
}

function requireExpression(expression: string): void {
  try {
    RegExp(expression)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new WorkspaceFault('refused', reason, { cause })
  }
}
