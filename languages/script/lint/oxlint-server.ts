import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { ScriptSuffix } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { after } from '#platform/clock.ts'
import { type OxlintProcess, oxlintProgram, startOxlint } from './oxlint-process.ts'

/** `configuration` is what would be in an `.oxlintrc.json`. */
export type OxlintQuestion = { text: string; suffix: ScriptSuffix; configuration: Readonly<Record<string, unknown>> }

export type OxlintAnswer =
  | { kind: 'report'; diagnostics: unknown; actions: unknown; uri: string }
  /** oxlint's words about a configuration that it does not accept. */
  | { kind: 'refused'; why: string }
  /** The process ended or took too long; the next text is not affected. */
  | { kind: 'lost'; why: string }

export type OxlintServer = {
  check(question: OxlintQuestion): Promise<OxlintAnswer>
  /** Ends the process, if there is one; running and waiting questions are lost. Safe to call twice. */
  close(): Promise<void>
}

/** A process is replaced after so many texts or configurations: it keeps something of each. */
const [maxTexts, maxConfigurations] = [20_000, 200]

const Published = z.object({ uri: z.string(), diagnostics: z.unknown() })
const Shown = z.object({ type: z.number(), message: z.string() })
const shownError = 1

/** Answers in the order of asking, one text at a time, so that it is known which text ends the process. It starts with the first text. */
export function openOxlintServer({ limitMs = 10_000 }: { limitMs?: number } = {}): OxlintServer {
  const closing = new AbortController()
  let running: RunningServer | undefined
  let last: Promise<unknown> = Promise.resolve()
  const answer = async (question: OxlintQuestion): Promise<OxlintAnswer> => {
    if (closing.signal.aborted) throw new AppError('AGENT_010', 'the linter is closed')
    if (running?.isSpent() === true) running.end()
    running = running?.isOver() === false ? running : startServer()
    const server = running
    const cancel = after(limitMs, () => server.end('it took too long'))
    try {
      return await server.check(question)
    } catch (error) {
      server.end()
      return { kind: 'lost', why: error instanceof Error ? error.message : String(error) }
    } finally {
      cancel()
    }
  }
  return {
    check(question) {
      const turn = last.then(() => answer(question))
      last = turn.catch(() => undefined)
      return turn
    },
    async close() {
      closing.abort()
      running?.end('the linter is closed')
      await last
    },
  }
}

type RunningServer = ReturnType<typeof startServer>

type Found = { kind: 'found'; diagnostics: unknown } | Extract<OxlintAnswer, { kind: 'refused' }>

function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'remora-oxlint-'))
  let texts = 0
  let over: string | undefined
  let waiting: { uri?: string; answer: PromiseWithResolvers<Found> } | undefined
  const end = (why = 'it was replaced') => {
    if (over !== undefined) return
    over = why
    process.kill()
    waiting?.answer.reject(new Error(why))
    rmSync(folder, { recursive: true, force: true })
  }
  const onNotice = (method: string, params: unknown) => {
    const found = noticeOf(method, params)
    const isAnswer = found?.kind === 'refused' || found?.uri === waiting?.uri
    if (found !== undefined && isAnswer) waiting?.answer.resolve(found)
  }
  const process = startOxlint(folder, { onNotice, onExit: end })
  const ready = initialized(process)
  const configurations = openConfigurations(folder, process)

  return {
    end,
    isOver: () => over !== undefined,
    isSpent: () => texts >= maxTexts || configurations.size() >= maxConfigurations,
    async check({ text, suffix, configuration }: OxlintQuestion): Promise<OxlintAnswer> {
      await ready
      texts += 1
      const asking: NonNullable<typeof waiting> = { answer: Promise.withResolvers() }
      waiting = asking
      asking.uri = `${configurations.folderOf(configuration)}/text${texts}${suffix}`
      const { uri } = asking
      process.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'text', version: 1, text } })
      const found = await asking.answer.promise
      waiting = undefined
      if (found.kind === 'refused') {
        end() // in the folder of a refused configuration nothing is answered
        return found
      }
      const range = { start: { line: 0, character: 0 }, end: { line: text.length, character: 0 } }
      const asked = { textDocument: { uri }, range, context: { diagnostics: [] } }
      const actions = await process.request('textDocument/codeAction', asked)
      process.notify('textDocument/didClose', { textDocument: { uri } })
      return { kind: 'report', diagnostics: found.diagnostics, actions, uri }
    },
  }
}

async function initialized({ request, notify }: OxlintProcess): Promise<void> {
  await request('initialize', { processId: null, rootUri: null, workspaceFolders: [], capabilities: {} })
  notify('initialized', {})
}

function noticeOf(method: string, params: unknown): (Found & { uri?: string }) | undefined {
  if (method === 'textDocument/publishDiagnostics') return { kind: 'found', ...Published.parse(params) }
  const shown = method === 'window/showMessage' ? Shown.safeParse(params).data : undefined
  return shown?.type === shownError ? { kind: 'refused', why: shown.message } : undefined
}

/** One folder for each configuration: oxlint reads it when the folder is added. */
function openConfigurations(top: string, { notify }: OxlintProcess) {
  const known = new Map<string, string>()
  return {
    size: () => known.size,
    folderOf(configuration: OxlintQuestion['configuration']): string {
      const content = JSON.stringify(configuration)
      return getOrMake(known, sha256(content), () => {
        const name = String(known.size)
        const folder = join(top, name)
        mkdirSync(folder)
        writeFileSync(join(folder, '.oxlintrc.json'), content)
        const uri = pathToFileURL(folder).href
        notify('workspace/didChangeWorkspaceFolders', { event: { added: [{ uri, name }], removed: [] } })
        const options = { fixKind: 'safe_fix' }
        notify('workspace/didChangeConfiguration', { settings: [{ workspaceUri: uri, options }] })
        return uri
      })
    },
  }
}

/** A rule that oxlint has. */
export const OxlintRule = z.object({
  scope: z.string(),
  value: z.string(),
  category: z.string(),
  type_aware: z.boolean(),
  /** Is true when ESLint's own or typescript-eslint's `recommended` has it. */
  recommended: z.boolean(),
})
export type OxlintRule = z.infer<typeof OxlintRule>

/** All rules of this oxlint. TOOL_004 when it does not start. */
export async function readOxlintRules(): Promise<readonly OxlintRule[]> {
  const args = [oxlintProgram, '--rules', '--format', 'json']
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: {}, maxBuffer: 8 * 2 ** 20 })
    return z.array(OxlintRule).parse(JSON.parse(stdout))
  } catch (error) {
    throw new AppError('TOOL_004', 'oxlint does not list its rules', { cause: error })
  }
}
