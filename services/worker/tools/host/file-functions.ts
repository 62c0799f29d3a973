import { WorkspaceFault } from '../../workspace/workspace-fault.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { HostFunction } from './host-function.ts'
import { optionalInteger, text } from './host-arguments.ts'

/** `read_file`, `write_file`, `file_exists`, `list_dir` over the attempt's workspace. */
export function fileFunctions(workspace: Workspace): Record<string, HostFunction> {
  return {
    async read_file([path, startLine, endLine]) {
      const content = await workspace.readText(text(path, 'path'))
      const from = optionalInteger(startLine, 'start_line')
      const to = optionalInteger(endLine, 'end_line')
      return from === undefined && to === undefined ? content : linesBetween(content, from ?? 1, to)
    },
    async write_file([path, content]) {
      await workspace.writeText(text(path, 'path'), text(content, 'content'))
      return { path: text(path, 'path'), bytes: Buffer.byteLength(text(content, 'content')) }
    },
    file_exists: async ([path]) => workspace.exists(text(path, 'path')),
    list_dir: async ([path]) => workspace.list(path === undefined || path === null ? '' : text(path, 'path')),
  }
}

/** Lines are 1-based and inclusive; the end is clamped (features.md A7). */
function linesBetween(content: string, from: number, to: number | undefined): string {
  const lines = content.split(/(?<=\n)/)
  if (from < 1) throw new WorkspaceFault('refused', `start_line (${from}) must be at least 1`)
  const last = Math.min(to ?? lines.length, lines.length)
  if (to !== undefined && from > to)
    throw new WorkspaceFault('refused', `start_line (${from}) must be <= end_line (${to})`)
  if (from > lines.length) {
    throw new WorkspaceFault('refused', `start_line (${from}) is beyond end of file (${lines.length} lines)`)
  }
  return lines.slice(from - 1, last).join('')
}
