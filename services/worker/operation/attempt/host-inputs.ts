import { virtualFiles } from '../../tools/virtual-files.ts'
import type { RelatedPaths } from '../start/related-paths.ts'
import type { RunningAttempt } from './running-attempt.ts'

/** Works out the inputs of these names that the host fills in, as the attempt stands now; only what is named. */
export async function hostInputs(
  names: readonly string[],
  { attempt, bundle, workspace, target }: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'target'>,
  relatedPaths: RelatedPaths,
): Promise<Record<string, unknown>> {
  const { node } = attempt
  const known: Record<string, () => unknown> = {
    node_id: () => node.nodeId,
    node_name: () => node.name,
    node_kind: () => node.kind,
    async node_text() {
      const { source, start, end } = await target.locate()
      return source.slice(start, end)
    },
    file_path: () => node.path,
    files: async () => virtualFiles(workspace, [node.path, ...(await relatedPaths(attempt))]),
    language: () => node.language,
    workspace_id: () => attempt.operationId,
    settings: () => bundle.settings,
  }
  const filled = names.map(async (name) => [name, await known[name]?.()] as const)
  return Object.fromEntries(await Promise.all(filled))
}
