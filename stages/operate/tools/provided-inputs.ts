import { linesOfNode, type TargetNode } from './target-node.ts'
import { unlessRefused, type Workspace } from '../workspace/open-workspace.ts'

/** Each input is read when it is called. `relatedPaths` are the files of `files` after the node's own. */
export function nodeInputs(
  { node, locate }: Pick<TargetNode, 'node' | 'locate'>,
  workspace: Pick<Workspace, 'readText'>,
  relatedPaths: () => Promise<readonly string[]>,
): Record<string, () => unknown> {
  return {
    node_id: () => node.nodeId,
    node_name: () => node.name,
    node_kind: () => node.kind,
    async node_text() {
      const { source, start, end } = await locate()
      return source.slice(start, end)
    },
    node_start_line: async () => linesOfNode(await locate()).first,
    node_end_line: async () => linesOfNode(await locate()).last,
    file_path: () => node.path,
    files: async () => virtualFiles(workspace, [node.path, ...(await relatedPaths())]),
    language: () => node.language,
  }
}

const maxFiles = 20
/** Limits the UTF-16 units of all files together. */
const maxCharacters = 500_000

/** The current texts of as many of the first `paths` as fit, without a file that is too large, not text, or missing. */
export async function virtualFiles(
  workspace: Pick<Workspace, 'readText'>,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const files = new Map<string, string>()
  let characters = 0
  for (const path of new Set(paths)) {
    if (files.size === maxFiles) break
    const text = await unlessRefused(workspace.readText(path))
    if (text === undefined || characters + text.length > maxCharacters) continue
    characters += text.length
    files.set(path, text)
  }
  return Object.fromEntries(files)
}
