import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { Sandbox } from '#sandbox/open-sandbox.ts'
import type {
  ChangedFile,
  ProgramFiles,
  ProgramResult,
  SandboxedProgram,
  SandboxLimits,
} from '#sandbox/sandboxed-program.ts'
import type { BuiltLayer } from '../../workspace/built-layer.ts'
import type { OpenEnvironment } from './environments.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'

export type AttemptPrograms = {
  allowed: readonly string[]
  /** Runs a program over the attempt's files as they are now, at most `wallMs` long. What it does to files is gone with it. */
  run(program: AttemptProgram, options?: ProgramOptions): Promise<ProgramResult>
  /** Throws what `run` would throw where no program can be run at all: TOOL_005, and SETUP_001 after a setup that failed. */
  require(): Promise<void>
}

export type AttemptProgram = Omit<SandboxedProgram, 'files' | 'limits'>

/** `instead`: what some files are to be for this program alone, by path. */
export type ProgramOptions = { wallMs?: number | undefined; instead?: ReadonlyMap<string, string> }

export type ProgramDeps = {
  sandbox: Pick<Sandbox, 'run' | 'state'>
  limits: SandboxLimits
  /** Opens a tar of the snapshot's files for reading; the descriptor is the caller's to close. */
  archive(project: ProjectId, snapshotId: string): Promise<number>
  environment: OpenEnvironment
}

export type SnapshotPrograms = ProgramDeps & {
  gateLimitS: number
  snapshot(project: ProjectId, snapshotId: string): Promise<Pick<SnapshotView, 'find'>>
}

export type StartedPrograms = {
  attempt: Pick<Attempt, 'projectId' | 'snapshotId'>
  allowed: readonly string[]
  built: BuiltLayer | undefined
  workspace: Pick<Workspace, 'written' | 'writtenFiles' | 'exists' | 'baseHash'>
  environment(): Promise<RunEnvironment | null>
}

export function attemptPrograms(
  started: StartedPrograms,
  { sandbox, limits, archive, environment: environmentOf }: ProgramDeps,
  signal: AbortSignal,
): AttemptPrograms {
  const { projectId, snapshotId } = started.attempt
  const surroundings = async () => environmentOf(projectId, await started.environment())
  return {
    allowed: started.allowed,
    async require() {
      const state = await sandbox.state()
      if (state.kind === 'lacking') throw new AppError('TOOL_005', state.reason)
      await surroundings()
    },
    async run(program, { wallMs = limits.wallMs, instead = new Map() } = {}) {
      const over = filesOver(started)
      const changed = [...over.changed.filter(({ path }) => !instead.has(path)), ...textFiles(instead)]
      const files = { ...over, changed, base: () => archive(projectId, snapshotId) }
      const around = await surroundings()
      const own = { ...limits, wallMs: Math.min(wallMs, limits.wallMs) }
      const environment = { ...around.environment, ...program.environment }
      return sandbox.run({ ...around, ...program, environment, files, limits: own }, signal)
    },
  }
}

function filesOver({ built, workspace }: StartedPrograms): Required<Omit<ProgramFiles, 'base'>> {
  const own = workspace.writtenFiles()
  const { deleted = [] } = workspace.written()
  const ownPaths = new Set<string>([...own.map(({ path }) => path), ...deleted])
  const changed = own.map(({ text, ...file }) => ({ ...file, content: Buffer.from(text) }))
  const gone: string[] = [...deleted]
  for (const path of built?.paths ?? []) {
    const file = built?.find(path)
    // A program may read every file, so what comes of it is built on every change that was there.
    if (file === undefined) workspace.exists(path)
    else workspace.baseHash(path)
    if (ownPaths.has(path)) continue
    const content = built?.changed(path)?.after
    if (content === undefined) gone.push(path)
    else changed.push({ path, content: Buffer.from(content), executable: file?.executable ?? false })
  }
  return { changed, deleted: gone }
}

function textFiles(texts: ReadonlyMap<string, string>): ChangedFile[] {
  return Array.from(texts, ([path, text]) => ({ path, content: Buffer.from(text), executable: false }))
}
