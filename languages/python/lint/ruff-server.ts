import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { link, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { AppError, unreachable } from '#domain/error.ts'
import type { RuffTree } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type LanguageServer, startLanguageServer, TextRange } from '../../lint/language-server.ts'
import type { LintServer } from '../../lint/server-turns.ts'
import { keyOfTree } from './ruff-tree.ts'

/** Ruff reads the files of a tree; its modules are there by name alone. */
export type RuffQuestion = { tree: RuffTree } & (
  | { kind: 'lint'; path: string; text: string }
  | { kind: 'format'; text: string }
  | { kind: 'settings'; folder: string }
  /** Asks which of the modules Ruff would lint. */
  | { kind: 'modules' }
)

export type RuffAnswer =
  | { kind: 'items'; items: RuffItem[] }
  | { kind: 'edits'; edits: RuffEdit[] }
  | { kind: 'output'; output: string }
  /** Has Ruff's words about a configuration that it does not accept. */
  | { kind: 'refused'; why: string }

const RuffEdit = z.object({ range: TextRange, newText: z.string() })
export type RuffEdit = z.infer<typeof RuffEdit>
/** `is_preferred`: the fix is safe, as Ruff and the configuration see it. */
const Fix = z.object({ edits: z.array(RuffEdit), is_preferred: z.boolean().nullish() })
const RuffItem = z.object({ code: z.string().nullish(), message: z.string(), range: TextRange, data: Fix.nullish() })
export type RuffItem = z.infer<typeof RuffItem>
const Report = z.object({ items: z.array(RuffItem) })

/** A process is replaced after so many texts or trees: it keeps something of each. */
const [maxTexts, maxTrees] = [20_000, 40]
const maxMemoryKiB = 4_000_000
const maxOutputBytes = 64 * 2 ** 20
const ownFiles = ['pyproject.toml', 'ruff.toml', '.ruff.toml']
/** Stands for any file of a folder. */
const anyFile = 'remora_any_file.py'

/**
 * Starts `ruff server`, which sees nothing but the trees that are laid for it in a folder of its own. In each, the rules `extended` are on
 * besides those of the configuration.
 */
export function startRuff(program: string, extended: readonly string[]): LintServer<RuffQuestion, RuffAnswer> {
  const folder = mkdtempSync(join(tmpdir(), 'remora-ruff-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  refuseFilesAbove(folder)
  const ending = new AbortController()
  let texts = 0
  let why = ''
  const end = (reason = 'it was replaced') => {
    if (ending.signal.aborted) return
    why = reason
    ending.abort(new Error(reason))
    server.kill()
    removeFolder()
  }
  const command = [program, 'server']
  const server = startLanguageServer({ command, folder, maxMemoryKiB }, { onNotice: () => {}, onExit: end })
  const ready = initialized(server, extended)
  void ready.catch(() => undefined) // each question that waits for it fails
  const laid = new Map<string, Promise<string>>()
  const topOf = (tree: RuffTree, moved: () => void) =>
    getOrMake(laid, keyOfTree(tree), async () => {
      const top = join(folder, String(laid.size))
      await lay(top, tree, () => {
        ending.signal.throwIfAborted()
        moved()
      })
      await ready
      const added = [{ uri: pathToFileURL(top).href, name: top }]
      server.notify('workspace/didChangeWorkspaceFolders', { event: { added, removed: [] } })
      return top
    })
  const inFolder = <T>(work: Promise<T>) => tidily(work, { folder, ended: ending.signal, removeFolder })
  return {
    end,
    whyOver: () => (ending.signal.aborted ? why : undefined),
    isSpent: () => texts >= maxTexts || laid.size >= maxTrees,
    async ready(question, moved) {
      texts += 1
      const top = await inFolder(topOf(question.tree, moved))
      return () => inFolder(answerTo(question, { top, server, program, signal: ending.signal }))
    },
  }
}

type OwnFolder = { folder: string; ended: AbortSignal; removeFolder(): void }

async function tidily<T>(work: Promise<T>, { folder, ended, removeFolder }: OwnFolder): Promise<T> {
  try {
    return await work
  } catch (error) {
    // When the process ends by itself, its folder goes first, and why it has ended is heard of after that.
    if (isMissingIn(folder, error) && !ended.aborted) await once(ended, 'abort')
    throw error
  } finally {
    // What was being laid when the process ended has made the folder anew.
    if (ended.aborted) removeFolder()
  }
}

async function initialized({ request, notify }: LanguageServer, extended: readonly string[]): Promise<void> {
  await request('initialize', {
    processId: null,
    rootUri: null,
    workspaceFolders: [],
    capabilities: { textDocument: { diagnostic: {} }, general: { positionEncodings: ['utf-16'] } },
    initializationOptions: { settings: { configurationPreference: 'editorFirst', lint: { extendSelect: extended } } },
  })
  notify('initialized', {})
}

type Answering = { top: string; server: LanguageServer; program: string; signal: AbortSignal }

async function answerTo(question: RuffQuestion, { top, server, ...running }: Answering): Promise<RuffAnswer> {
  const opened = (path: string, text: string, method: string, params: object) => {
    const uri = pathToFileURL(join(top, path)).href
    server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'python', version: 1, text } })
    const answer = server.request(method, { textDocument: { uri }, ...params })
    server.notify('textDocument/didClose', { textDocument: { uri } }) // the request has its own view of the text
    return answer
  }
  const { kind } = question
  switch (kind) {
    case 'lint':
      return {
        kind: 'items',
        ...Report.parse(await opened(question.path, question.text, 'textDocument/diagnostic', {})),
      }
    case 'format': {
      const options = { tabSize: 4, insertSpaces: true }
      const edits = await opened(anyFile, question.text, 'textDocument/formatting', { options })
      return { kind: 'edits', edits: z.array(RuffEdit).parse(edits ?? []) }
    }
    case 'settings': {
      const path = join(top, question.folder, anyFile)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '')
      const answer = await runRuff(['--show-settings', path], { top, ...running })
      await rm(path)
      return answer
    }
    case 'modules': {
      const answer = await runRuff(['--show-files', '.'], { top, ...running })
      return answer.kind === 'output' ? { ...answer, output: answer.output.replaceAll(`${top}/`, '') } : answer
    }
    default:
      return unreachable(kind)
  }
}

/** Ruff looks for a Python version in every folder above, which would be one of this machine. */
function refuseFilesAbove(folder: string): void {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    const file = ownFiles.map((name) => join(above, name)).find((path) => existsSync(path))
    if (file === undefined) continue
    throw new AppError('TOOL_004', `Ruff would read ${file}, which is above the folder for temporary files: remove it`)
  }
}

/** Lays a tree. Calls `onStep` for each folder and module, since thousands of them take long on a busy machine; ends with what it throws. */
async function lay(top: string, { files, modules }: RuffTree, onStep: () => void): Promise<void> {
  const folders = new Set(['.', ...[...modules, ...Object.keys(files)].map((path) => dirname(path))])
  for (const folder of folders) {
    onStep()
    await mkdir(join(top, folder), { recursive: true })
  }
  const [first = '', ...others] = modules.map((path) => join(top, path))
  if (first !== '') await writeFile(first, '')
  for (const path of others) {
    onStep()
    // A link takes a twentieth of the time of a new file; some file systems have none, or bound those of a file.
    await link(first, path).catch(() => writeFile(path, ''))
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(top, path), text)
}

function isMissingIn(folder: string, error: unknown): boolean {
  const missing = z.object({ code: z.literal('ENOENT'), path: z.string() }).safeParse(error)
  return !existsSync(folder) || (missing.data?.path.startsWith(folder) ?? false)
}

const neutral = ['--no-cache', '--no-fix', '--no-respect-gitignore', '--no-force-exclude']

async function runRuff(
  args: readonly string[],
  { program, top, signal }: Omit<Answering, 'server'>,
): Promise<RuffAnswer> {
  const options = { cwd: top, env: { XDG_CONFIG_HOME: top, HOME: top }, maxBuffer: maxOutputBytes, signal }
  try {
    const { stdout } = await promisify(execFile)(program, ['check', ...neutral, ...args], options)
    return { kind: 'output', output: stdout }
  } catch (error) {
    signal.throwIfAborted()
    const failed = z.object({ code: z.number(), stderr: z.string() }).safeParse(error)
    if (!failed.success) throw error
    return { kind: 'refused', why: causeIn(failed.data.stderr, top) }
  }
}

/** Returns Ruff's last cause in one line, with paths as the repository has them. */
function causeIn(words: string, top: string): string {
  const cause = words.split(/^\s*Cause: /m).at(-1) ?? words
  const lines = cause.split('\n').filter((line) => !/^\s*(?:\d+ )?\|/.test(line) && line.trim() !== '')
  const last = cause.startsWith('TOML parse error') ? lines.at(-1) : lines.join(' ')
  return (last ?? cause).replaceAll(`${top}/`, '').trim().slice(0, 300)
}
