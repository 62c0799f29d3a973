import { hasCode } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import { ScriptError, type ExternalFunction } from '#tool-scripts/script-call.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { AskedQuestion } from '#domain/question.ts'
import { ScriptSuspended } from '#tool-scripts/script-ending.ts'
import { type Workspace, WorkspaceFault, refusal } from '../../workspace/open-workspace.ts'
import { type LineSearcher, findFiles, searchFiles } from '../../workspace/search-files.ts'
import type { TargetNode } from '../target-node.ts'
import { editNode } from './edit-node.ts'
import { type DocstringDeps, docstringExternals } from '#agents/docstring/host/externals.ts'
import { lintExternals } from '#agents/lint/host/externals.ts'
import { type FindRelated, relatedNodes } from './related-nodes.ts'
import type { ToolsBeside } from '../programs/tools-beside.ts'
import { programExternals } from './program-externals.ts'
import { type ReportDeps, reportExternals } from './report-externals.ts'
import { sampleExternals } from '#agents/sample_data/host/externals.ts'
import { type TestExternalDeps, testExternals } from '#agents/test/host/externals.ts'
import { optionalInteger, optionalTruth, text, textList, textsByKey } from './external-arguments.ts'

export type ExternalDeps = DocstringDeps &
  TestExternalDeps & {
    log: Pick<Log, 'debug'>
    searcher: Pick<LineSearcher, 'find'>
    related: FindRelated
    /** Lets calls that take long go on without their script; without it the script waits. */
    beside?: Pick<ToolsBeside, 'deferring'>
    reports: ReportDeps
  }

/** Returns all that an attempt's tool scripts may call, by name. `calledBefore`: by attempts that this one continues. */
export function attemptExternals(
  workspace: Workspace,
  target: TargetNode,
  deps: ExternalDeps,
  calledBefore: readonly JournalEntry[] = [],
): ReadonlyMap<string, ExternalFunction> {
  const programs = programExternals(target, deps.programs)
  const deferring = deps.beside?.deferring ?? ((run: ExternalFunction) => run)
  const all: Record<string, ExternalFunction> = {
    ...fileExternals(workspace, deps.searcher),
    ...lintExternals(workspace, target, deps),
    edit_node: editNode(workspace, target, deps),
    ...docstringExternals(workspace, target, deps),
    ...sampleExternals(workspace, target, deps),
    ...programs,
    ...testExternals(workspace, target, deps),
    related_nodes: relatedNodes(deps.related),
    ...reportExternals(workspace, deps.reports, calledBefore),
    ask_user: askUser,
    log: ([message]) => deps.log.debug('tool script', { message: String(message).slice(0, 2000) }),
  }
  const bound = Object.entries(all).map(([name, run]) => [name, withPythonErrors(run)] as const)
  return new Map(bound.map(([name, run]) => [name, Object.hasOwn(programs, name) ? deferring(run) : run]))
}

function withPythonErrors(run: ExternalFunction): ExternalFunction {
  return async (args) => {
    try {
      return await run(args)
    } catch (error) {
      if (error instanceof WorkspaceFault) throw new ScriptError(pythonTypes[error.kind], error.message)
      if (hasCode(error, 'TOOL_007')) throw new ScriptError('PermissionError', `TOOL_007: ${error.message}`)
      throw error
    }
  }
}

const pythonTypes = {
  'not-found': 'FileNotFoundError',
  'not-text': 'ValueError',
  'too-large': 'ValueError',
  refused: 'ValueError',
} as const

function askUser([question, choices]: readonly unknown[]): never {
  const parsed = AskedQuestion.safeParse({ text: question, choices: choices ?? null })
  if (parsed.success) throw new ScriptSuspended({ question: parsed.data })
  const limits = 'a question has 1 to 3,000 characters and at most 20 different choices of 1 to 100 characters each'
  throw new ScriptError('ValueError', limits)
}

/** The externals on any files of the attempt's workspace: reading, looking for, writing, deleting and renaming them. */
export function fileExternals(
  workspace: Workspace,
  searcher: Pick<LineSearcher, 'find'>,
): Record<string, ExternalFunction> {
  return { ...readingExternals(workspace, searcher), ...writingExternals(workspace) }
}

function readingExternals(workspace: Workspace, searcher: Pick<LineSearcher, 'find'>) {
  return {
    async read_file([path, startLine, endLine]) {
      const content = await workspace.readText(text(path, 'path'))
      const from = optionalInteger(startLine, 'start_line')
      const to = optionalInteger(endLine, 'end_line')
      return from === undefined && to === undefined ? content : linesBetween(content, from ?? 1, to)
    },
    read_files: async ([paths]) => workspace.readTexts(textList(paths, 'paths')),
    file_exists: async ([path]) => workspace.exists(text(path, 'path')),
    list_dir: async ([path]) => workspace.list(optionalText(path, 'path')),
    find_files: async ([pattern]) => findFiles(workspace, text(pattern, 'pattern')),
    async search_files([wanted, paths, regex]) {
      const isExpression = optionalTruth(regex, 'regex') ?? false
      const query = { text: text(wanted, 'text'), isExpression, paths: optionalText(paths, 'paths') }
      return searchFiles(workspace, query, searcher)
    },
  } satisfies Record<string, ExternalFunction>
}

function writingExternals(workspace: Workspace) {
  return {
    async write_file([path, content, executable]) {
      const bit = optionalTruth(executable, 'executable')
      await workspace.writeText(text(path, 'path'), text(content, 'content'), bit)
      return { path: text(path, 'path'), bytes: Buffer.byteLength(text(content, 'content')) }
    },
    async write_files([files]) {
      const texts = textsByKey(files, 'files')
      await workspace.writeTexts(texts)
      return { files: texts.size, bytes: texts.values().reduce((sum, content) => sum + Buffer.byteLength(content), 0) }
    },
    async delete_file([path]) {
      await workspace.deleteFile(text(path, 'path'))
      return { path: text(path, 'path') }
    },
    async rename_file([path, newPath]) {
      await workspace.renameFile(text(path, 'path'), text(newPath, 'new_path'))
      return { path: text(path, 'path'), new_path: text(newPath, 'new_path') }
    },
  } satisfies Record<string, ExternalFunction>
}

function optionalText(value: unknown, name: string): string {
  return value === undefined || value === null ? '' : text(value, name)
}

/** Lines are 1-based and inclusive; an end beyond the file is cut to its last line. */
function linesBetween(content: string, from: number, to: number | undefined): string {
  const lines = content.split(/(?<=\n)/)
  if (from < 1) throw refusal(`start_line (${from}) must be at least 1`)
  if (to !== undefined && from > to) throw refusal(`start_line (${from}) must be <= end_line (${to})`)
  if (from > lines.length) throw refusal(`start_line (${from}) is beyond end of file (${lines.length} lines)`)
  return lines.slice(from - 1, to).join('')
}
