import { createGzip } from 'node:zlib'
import { closeSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { asAppError, hasCode } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { type RunId, sha256 } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { SettledEnvironment } from '#domain/setup.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { failRun, type StageEnd } from '#store/ledger/run-stage.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import type { Log } from '#platform/log.ts'
import type { SnapshotArchives } from '#sandbox/snapshot-archives.ts'
import { type IsolatedSetup, runIsolated } from '../isolated/run-isolated.ts'
import { posix } from 'node:path'

export type SetupStageDeps = {
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'move'>
  objects: Pick<ObjectStore, 'putStream' | 'stat'>
  readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
  archives: Pick<SnapshotArchives, 'open'>
  /** Holds what every setup of this process is told. */
  isolation: Omit<IsolatedSetup, 'dir' | 'command' | 'hasPython'>
  /** Says what the sandbox has of Python, Node and the system. Throws TOOL_005 where there is none. */
  toolchain(): Promise<string>
  log: Pick<Log, 'info'>
}

const origin = { kind: 'worker', id: 'setup' } as const
const inPlanning = { status: 'running', phase: 'planning' } as const

/**
 * Makes the environment of a run's programs, or finds the one of the same manifests, and lets the run go on, also when the setup
 * fails: its programs are then not started. Running it again changes nothing.
 */
export async function runSetupStage(runId: RunId, deps: SetupStageDeps, signal: AbortSignal): Promise<StageEnd> {
  const run = await deps.ledger.getRun(runId)
  const { environment, phase, snapshotId, generation } = run
  if (run.status !== 'running' || phase !== 'planning' || environment?.kind !== 'wanted' || snapshotId === null)
    return 'idle'
  const { command } = environment
  const started: NewEvent = { event: 'setup.started', phase, origin, data: { command } }
  try {
    const begin = { from: [inPlanning], to: {}, generation, command: 'setup started', events: [started] } as const
    await deps.ledger.move(runId, begin)
    const settled = await environmentOf({ ...run, snapshotId, command }, deps, signal)
    await deps.ledger.move(runId, {
      from: [inPlanning],
      to: { phase: 'execution' },
      generation,
      command: 'setup',
      set: { environment: JSON.stringify(settled) },
      events: [finished(settled)],
    })
    return settled.kind === 'ready' ? 'ok' : 'failed'
  } catch (error) {
    return failRun(runId, error, { phases: ['planning'], origin, signal, generation }, deps.ledger)
  }
}

type SetUp = Pick<Run, 'runId' | 'projectId'> & { snapshotId: string; command: string }

async function environmentOf(run: SetUp, deps: SetupStageDeps, signal: AbortSignal): Promise<SettledEnvironment> {
  const { projectId, snapshotId, command } = run
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  const { isolation } = deps
  try {
    const { files } = await deps.readSnapshot(projectId, snapshotId)
    const hasPython = files.some(({ path }) => path.endsWith('.py'))
    const key = environmentKey(files, {
      command,
      hasPython,
      toolchain: await deps.toolchain(),
      registries: [...isolation.registries, ...isolation.internalRegistries],
      variables: isolation.variables,
    })
    const objectKey = objectKeys.environment(projectId, key)
    const known = await deps.objects.stat(objectKey)
    if (known !== undefined)
      return { kind: 'ready', command, key, bytes: known.bytes, isCached: true, durationMs: durationMs() }
    const base = await deps.archives.open(projectId, snapshotId)
    let bytes = 0
    const store = async (tar: AsyncIterable<Uint8Array>) => {
      const options = { maxBytes: isolation.limits.diskBytes, contentType: 'application/gzip' }
      bytes = (await deps.objects.putStream(objectKey, gzipped(tar), options)).bytes
    }
    const end = await runIsolated({ ...isolation, command, hasPython }, base, store, signal).finally(() =>
      closeSync(base),
    )
    const { hosts, refused } = end
    deps.log.info('a setup ended', { run_id: run.runId, how: end.kind, duration_ms: durationMs(), hosts, refused })
    if (end.kind === 'made') return { kind: 'ready', command, key, bytes, isCached: false, durationMs: durationMs() }
    return { kind: 'failed', command, reason: end.reason, output: end.output, durationMs: durationMs() }
  } catch (error) {
    const fault = asAppError(error, 'TOOL_004')
    signal.throwIfAborted()
    if (!hasCode(fault, 'TOOL_004', 'TOOL_005', 'INTAKE_003')) throw error
    const reason =
      fault.code === 'INTAKE_003' ? 'its result is larger than setup.disk_mb' : `${fault.code} ${fault.message}`
    return { kind: 'failed', command, reason, output: '', durationMs: durationMs() }
  }
}

async function* gzipped(tar: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: 1 })
  const feeding = pipeline(tar, gzip).catch(() => {}) // reading it throws the same
  try {
    yield* gzip
  } finally {
    gzip.destroy()
    await feeding
  }
}

function finished(settled: SettledEnvironment): NewEvent {
  const { command, durationMs } = settled
  const common = { event: 'setup.finished', phase: 'planning', origin, durationMs } as const
  if (settled.kind === 'ready')
    return { ...common, data: { command, cached: settled.isCached, bytes: settled.bytes, duration_ms: durationMs } }
  const { reason, output } = settled
  const data = { command, error_code: 'SETUP_001', reason, output, duration_ms: durationMs }
  return { ...common, status: 'error', errorCode: 'SETUP_001', data }
}

/** Files that say what is to be installed, or run when it is, by their names in any folder. */
const manifests = new Set([
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'MANIFEST.in',
  'uv.lock',
  'poetry.lock',
  'pdm.lock',
  'Pipfile',
  'Pipfile.lock',
  'tox.ini',
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  '.npmrc',
  '.yarnrc.yml',
  '.python-version',
  '.node-version',
  '.nvmrc',
  'Makefile',
  'makefile',
  'GNUmakefile',
  'Cargo.toml',
  'Cargo.lock',
  'build.rs',
  'CMakeLists.txt',
  'meson.build',
  'meson.options',
  'meson_options.txt',
  'go.mod',
  'go.sum',
  'binding.gyp',
])
const requirements = /(?:^|[/_.-])(?:requirements|constraints)(?:[/_.-].*)?\.(?:txt|in)$/i

function isManifest(path: string): boolean {
  return manifests.has(posix.basename(path)) || path.endsWith('.cmake') || requirements.test(path)
}

/** Decides the key with the snapshot. `toolchain` says what the sandbox has of Python, Node and the system. */
export type KeyParts = {
  command: string
  hasPython: boolean
  toolchain: string
  registries: readonly string[]
  variables: object
}

/** Is equal for the same command, tools, manifests, lock files and files that the command names. */
export function environmentKey(files: SnapshotView['files'], parts: KeyParts): string {
  const words = wordsOf(parts.command)
  const isRead = (path: string) => isManifest(path) || words.some((word) => path === word || path.endsWith(`/${word}`))
  const named = files.filter(({ path }) => isRead(path)).map(({ path, hash }) => `${hash} ${path}`)
  return sha256(JSON.stringify([2, parts, named.toSorted()]))
}

function wordsOf(command: string): string[] {
  const words = command.split(/[\s'"`=;:,&|<>(){}]+/)
  return words.map((word) => posix.normalize(word).replace(/^(?:\.{0,2}\/)+/, '')).filter((word) => word !== '.')
}
