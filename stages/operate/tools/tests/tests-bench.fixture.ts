import { createWriteStream, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import type { Sandbox } from '#sandbox/open-sandbox.ts'
import { usualLimits } from '#sandbox/sandbox.fixture.ts'
import type { SandboxLimits } from '#sandbox/sandboxed-program.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openSyntaxChecker } from '../../evidence/syntax-evidence.ts'
import { baseLayerOf } from '../../workspace/base-layer.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { attemptPrograms } from '../programs/attempt-programs.ts'
import { openTargetNode } from '../target-node.ts'
import { openTestProofs } from './prove-tests.ts'

const never = new AbortController().signal

export type BenchFiles = Readonly<Record<string, string>>

/** A program of an attempt has so many milliseconds; a run of a planted fault has fewer. */
export const usualWallMs = 20_000

type BenchLimits = Partial<SandboxLimits> & { proofs?: { runs: number; mutants: number } }

/** A sandbox and a parser for attempts over files that a test names. A program has 20 s unless the limits say otherwise. */
export function openTestsBench(
  { run }: Pick<Sandbox, 'run'>,
  { proofs = { runs: 3, mutants: 8 }, ...limits }: BenchLimits = {},
) {
  const syntax = openSyntaxChecker()
  const folders: string[] = []

  async function archiveOf(files: BenchFiles): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'remora-tests-'))
    folders.push(folder)
    const path = join(folder, 'files.tar')
    const items = Object.entries(files).map(([name, text]) => {
      return { path: name, executable: text.startsWith('#!'), content: Buffer.from(text) }
    })
    await pipeline(Readable.from(plainTar(items)), createWriteStream(path))
    return path
  }

  return {
    syntax,
    /** An attempt on what `text` is the beginning of, up to the next blank line without indentation or the end. */
    async attempt(files: BenchFiles, { path, text, name = 'f' }: { path: string; text: string; name?: string }) {
      const archive = await archiveOf(files)
      const paths = Object.keys(files).map((one) => ({ path: one }))
      const find = (one: string) => (Object.hasOwn(files, one) ? { hash: one } : undefined)
      const blobs = { get: async (_: string, hash: string) => Buffer.from(files[hash] ?? '') }
      const base = baseLayerOf({ files: paths, links: [], skipped: [], find }, blobs, 'p')
      const workspace = openWorkspace(base)
      const target = await openTargetNode(nodeAt(files, { path, text, name }), workspace, { rules: defaultPathRules })
      const environment = async () => null
      const started = { attempt: aPlannedOperation(name), workspace, built: undefined, allowed: [], environment }
      const places = { archive: async () => openSync(archive, 'r'), environment: async () => ({}) }
      const state = async () => ({ kind: 'works', with: 'bubblewrap' }) as const
      const most = { ...usualLimits, wallMs: usualWallMs, ...limits }
      const deps = { sandbox: { run, state }, limits: most, ...places }
      const ids = { projectId: 'p', snapshotId: 's' }
      const programs = (signal: AbortSignal) =>
        attemptPrograms({ ...started, attempt: { ...started.attempt, ...ids } }, deps, signal)
      const tests = openTestProofs({ limits: proofs, target, workspace, programs }, { syntax })
      return { workspace, target, tests, programs: programs(never) }
    },
    async close() {
      await syntax.close()
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
    },
  }
}

function nodeAt(files: BenchFiles, { path, text, name }: { path: string; text: string; name: string }): CodeNode {
  const source = files[path] ?? ''
  const start = source.indexOf(text)
  const next = source.slice(start).search(/\n\n(?=\S)/)
  const end = next === -1 ? source.trimEnd().length : start + next
  const bytes = (index: number) => Buffer.byteLength(source.slice(0, index))
  const { node } = aPlannedOperation(name)
  return {
    ...node,
    path,
    language: languageOf(path) ?? '',
    name,
    qualifiedName: name,
    startByte: bytes(start),
    endByte: bytes(end),
    hash: sha256(source.slice(start, end)),
  }
}
