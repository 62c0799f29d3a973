import { unifiedDiff } from '../../services/api/review/unified-diff.ts'
import type { Workspace } from '../../services/worker/workspace/open-workspace.ts'

/** A file that differs from the folder's; `before` is what the script was shown of it, null for a new one. */
export type WorkspaceChange = {
  path: string
  kind: 'create' | 'edit'
  before: string | null
  after: string
  diff: string
}

/** What a script has changed in its workspace, sorted by path. */
export async function workspaceChanges(
  workspace: Pick<Workspace, 'changedPaths' | 'readText' | 'readBase'>,
  isInFolder: (path: string) => boolean,
): Promise<WorkspaceChange[]> {
  const changes: WorkspaceChange[] = []
  for (const path of workspace.changedPaths()) {
    const after = await workspace.readText(path)
    const before = isInFolder(path) ? await workspace.readBase(path) : null
    if (before === after) continue
    const versions = { path, before: before === null ? null : Buffer.from(before), after: Buffer.from(after) }
    const diff = Buffer.from(unifiedDiff(versions)).toString()
    changes.push({ path, kind: before === null ? 'create' : 'edit', before, after, diff })
  }
  return changes
}
