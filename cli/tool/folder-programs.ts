import { defaultProject } from '#domain/ids.ts'
import { bundleOfScript } from '#bundles/check-script-file.ts'
import { openSandbox, type SandboxOptions } from '#sandbox/open-sandbox.ts'
import type { SandboxLimits } from '#sandbox/sandboxed-program.ts'
import { type AttemptPrograms, attemptPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { openSnapshotArchives } from '#sandbox/snapshot-archives.ts'
import type { Workspace } from '#stages/operate/workspace/open-workspace.ts'
import type { FolderLayer } from './open-folder.ts'

type Where = { folder: FolderLayer; workspace: Workspace }
type How = {
  sandbox: SandboxOptions & { limits: SandboxLimits }
  onEnd(name: string, close: () => Promise<void>): void
  signal: AbortSignal
}

/** Returns what the tool script may run: the programs of the bundle that it belongs to, over a copy of the folder. */
export async function folderPrograms(
  script: string,
  { folder, workspace }: Where,
  { sandbox, onEnd, signal }: How,
): Promise<AttemptPrograms> {
  const archives = openSnapshotArchives(async () => folder.contents())
  onEnd('archive of the folder', archives.close)
  const allowed = (await bundleOfScript(script))?.yaml.file?.programs ?? []
  const attempt = { projectId: defaultProject, snapshotId: 'folder' }
  const started = { attempt, allowed, built: undefined, workspace, environment: async () => null }
  return attemptPrograms(
    started,
    {
      sandbox: openSandbox(sandbox),
      limits: sandbox.limits,
      archive: archives.open,
      environment: async () => ({}),
    },
    signal,
  )
}
