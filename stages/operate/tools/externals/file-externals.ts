import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { type Workspace, refusal } from '../../workspace/open-workspace.ts'
import { findFiles, type LineSearcher, searchFiles } from '../../workspace/search-files.ts'
import { optionalInteger, optionalTruth, text, textList, textsByKey } from './external-arguments.ts'

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
