import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { ScriptSuffix } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { packageFile } from '#platform/package-file.ts'
import { type LanguageServer, startLanguageServer } from '../../lint/language-server.ts'
import { type LintServer, openServerTurns } from '../../lint/server-turns.ts'

/** `configuration` is what would be in an `.oxlintrc.json`. */
export type OxlintQuestion = { text: string; suffix: ScriptSuffix; configuration: Readonly<Record<string, unknown>> }

type OxlintAnswer =
  | { kind: 'report'; diagnostics: unknown; actions: unknown; uri: string }
  /** Has oxlint's words about a configuration that it does not accept. */
  | { kind: 'refused'; why: string }

export type OxlintServer = ReturnType<typeof openOxlintServer>

const manifest = packageFile('oxlint/package.json')
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, 'utf8')))
export const oxlintVersion = `oxlint ${version}`
const oxlintProgram = join(dirname(manifest), 'bin', 'oxlint')

/** A process is replaced after so many texts or configurations: it keeps something of each. */
const [maxTexts, maxConfigurations] = [20_000, 200]

const Published = z.object({ uri: z.string(), diagnostics: z.unknown() })
const Shown = z.object({ type: z.number(), message: z.string() })
const shownError = 1

/** The server starts with the first text. */
export function openOxlintServer({ limitMs = 10_000 }: { limitMs?: number } = {}) {
  const { ask: check, close } = openServerTurns(startServer, { limitMs })
  return { check, close }
}

type Found = { kind: 'found'; diagnostics: unknown } | Extract<OxlintAnswer, { kind: 'refused' }>

function startServer(): LintServer<OxlintQuestion, OxlintAnswer> {
  const folder = mkdtempSync(join(tmpdir(), 'remora-oxlint-'))
  let texts = 0
  let over: string | undefined
  let waiting: { uri?: string; answer: PromiseWithResolvers<Found> } | undefined
  const end = (why = 'it was replaced') => {
    if (over !== undefined) return
    over = why
    oxlint.kill()
    waiting?.answer.reject(new Error(why))
    rmSync(folder, { recursive: true, force: true })
  }
  const onNotice = (method: string, params: unknown) => {
    const notice = noticeOf(method, params)
    const isAnswer = notice?.kind === 'refused' || notice?.uri === waiting?.uri
    if (notice !== undefined && isAnswer) waiting?.answer.resolve(notice)
  }
  const command = [process.execPath, oxlintProgram, '--lsp']
  const oxlint = startLanguageServer({ command, folder }, { onNotice, onExit: end })
  const ready = initialized(oxlint)
  const configurations = openConfigurations(folder, oxlint)

  const ask = async ({ text, suffix, configuration }: OxlintQuestion): Promise<OxlintAnswer> => {
    texts += 1
    const asking: NonNullable<typeof waiting> = { answer: Promise.withResolvers() }
    waiting = asking
    asking.uri = `${configurations.folderOf(configuration)}/text${texts}${suffix}`
    const { uri } = asking
    oxlint.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'text', version: 1, text } })
    const notice = await asking.answer.promise
    waiting = undefined
    if (notice.kind === 'refused') {
      end() // in the folder of a refused configuration nothing is answered
      return notice
    }
    const actions = await fixesIn(oxlint, uri, text)
    oxlint.notify('textDocument/didClose', { textDocument: { uri } })
    return { kind: 'report', diagnostics: notice.diagnostics, actions, uri }
  }

  return {
    end,
    whyOver: () => over,
    isSpent: () => texts >= maxTexts || configurations.size() >= maxConfigurations,
    async ready(question) {
      await ready
      return () => ask(question)
    },
  }
}

async function initialized({ request, notify }: LanguageServer): Promise<void> {
  await request('initialize', { processId: null, rootUri: null, workspaceFolders: [], capabilities: {} })
  notify('initialized', {})
}

function fixesIn({ request }: LanguageServer, uri: string, text: string): Promise<unknown> {
  const range = { start: { line: 0, character: 0 }, end: { line: text.length, character: 0 } }
  return request('textDocument/codeAction', { textDocument: { uri }, range, context: { diagnostics: [] } })
}

function noticeOf(method: string, params: unknown): (Found & { uri?: string }) | undefined {
  if (method === 'textDocument/publishDiagnostics') return { kind: 'found', ...Published.parse(params) }
  const shown = method === 'window/showMessage' ? Shown.safeParse(params).data : undefined
  return shown?.type === shownError ? { kind: 'refused', why: shown.message } : undefined
}

/** Makes one folder for each configuration: oxlint reads it when the folder is added. */
function openConfigurations(top: string, { notify }: LanguageServer) {
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

export const OxlintRule = z.object({
  scope: z.string(),
  value: z.string(),
  category: z.string(),
  type_aware: z.boolean(),
  /** Is true when ESLint's own or typescript-eslint's `recommended` has it. */
  recommended: z.boolean(),
})
export type OxlintRule = z.infer<typeof OxlintRule>

/** Lists all rules of this oxlint. TOOL_004 when it does not start. */
export async function readOxlintRules(): Promise<readonly OxlintRule[]> {
  const args = [oxlintProgram, '--rules', '--format', 'json']
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: {}, maxBuffer: 8 * 2 ** 20 })
    return z.array(OxlintRule).parse(JSON.parse(stdout))
  } catch (error) {
    throw new AppError('TOOL_004', 'oxlint does not list its rules', { cause: error })
  }
}
