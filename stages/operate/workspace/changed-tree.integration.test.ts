import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { applyEdits, type FileChange } from '#domain/change-set.ts'
import { unreachable } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { unifiedDiff } from '#platform/unified-diff.ts'
import { lacks } from '#testing/this-machine.ts'
import { baseLayerOf } from './base-layer.ts'
import { openWorkspace, type Workspace, WorkspaceFault } from './open-workspace.ts'

const run = promisify(execFile)

type File = { content: Buffer; executable: boolean }
/** A repository as a plain table: what the workspace and git are held against. */
type Tree = ReadonlyMap<string, File>

function workspaceOver(tree: Tree, start?: Parameters<typeof openWorkspace>[1]): Workspace {
  const files = Array.from(tree, ([path, { content, executable }]) => ({ path, hash: sha256(content), executable }))
  const blobs = new Map([...tree.values()].map(({ content }) => [sha256(content), content]))
  const find = (path: string) => files.find((file) => file.path === path)
  const get = async (_project: string, hash: string) => blobs.get(hash) ?? Buffer.alloc(0)
  return openWorkspace(baseLayerOf({ files, links: [], skipped: [], find }, { get }, 'p'), start)
}

type Step =
  | { kind: 'write'; path: string; text: string; executable: boolean | undefined }
  | { kind: 'writeAll'; paths: string[]; text: string }
  | { kind: 'delete'; path: string }
  | { kind: 'rename'; path: string; to: string }

type Trees = { before: Tree; tree: Map<string, File> }

/** Does the step to the workspace, and to the table if that takes it: they must agree. */
async function step(workspace: Workspace, { before, tree }: Trees, one: Step): Promise<void> {
  let refusal: unknown
  await done(workspace, one).catch((error: unknown) => (refusal = error))
  const isTaken = refusal === undefined
  expect(isTaken || refusal instanceof WorkspaceFault).toBe(true)
  expect({ one, isTaken }).toEqual({ one, isTaken: isSound(one, { before, tree }) })
  if (!isTaken) return
  const write = (at: string, text: string, executable = tree.get(at)?.executable ?? false) =>
    tree.set(at, { content: Buffer.from(text), executable })
  const moved = one.kind === 'rename' ? tree.get(one.path) : undefined
  if (one.kind === 'write') write(one.path, one.text, one.executable)
  else if (one.kind === 'writeAll') for (const at of one.paths) write(at, one.text)
  else tree.delete(one.path)
  if (one.kind === 'rename' && moved !== undefined) tree.set(one.to, moved)
}

async function done(workspace: Workspace, one: Step): Promise<void> {
  switch (one.kind) {
    case 'write':
      return workspace.writeText(one.path, one.text, one.executable)
    case 'writeAll':
      return workspace.writeTexts(new Map(one.paths.map((path) => [path, one.text])))
    case 'delete':
      return workspace.deleteFile(one.path)
    case 'rename':
      return workspace.renameFile(one.path, one.to)
    default:
      return unreachable(one)
  }
}

/** Whether the step must be taken: what a file system takes, but for a file where the base has a folder. */
function isSound(one: Step, { before, tree }: Trees): boolean {
  if (one.kind === 'delete') return tree.has(one.path)
  const wanted = one.kind === 'writeAll' ? one.paths : [one.kind === 'write' ? one.path : one.to]
  const all = [...tree.keys(), ...wanted]
  const isBelow = (path: string, at: string) => at.startsWith(`${path}/`)
  const wasFolder = (path: string) => [...before.keys()].some((at) => isBelow(path, at))
  const isFree = wanted.every((path) => !all.some((at) => isBelow(path, at) || isBelow(at, path)))
  if (!isFree || wanted.some(wasFolder)) return false
  if (one.kind !== 'rename') return true
  const from = tree.get(one.path)
  return from !== undefined && !tree.has(one.to) && Buffer.from(from.content.toString()).equals(from.content)
}

const paths = ['a.py', 'b.py', 'pkg/a.py', 'pkg/sub/b.py', 'pkg', 'a.py/in.py', 'new/c.py', 'pkg/c d.py', 'é.py']
const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\r\n', 'é🙂', '\uFEFF', '\0', 'x', '\r'), { maxLength: 8 })
  .map((parts) => parts.join(''))
const content = fc.oneof(
  { weight: 4, arbitrary: text.map((one) => Buffer.from(one)) },
  fc.constantFrom(Buffer.of(0xe9, 10, 0xff), Buffer.from('a\né\n', 'utf16le')),
)
const path = fc.constantFrom(...paths)
const base = fc
  .array(fc.tuple(fc.constantFrom('a.py', 'b.py', 'pkg/a.py', 'pkg/sub/b.py'), content, fc.boolean()), { maxLength: 6 })
  .map((files): Tree => new Map(files.map(([at, bytes, executable]) => [at, { content: bytes, executable }])))
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      path,
      text,
      executable: fc.constantFrom(undefined, undefined, true, false),
    }),
    fc.record({ kind: fc.constant('writeAll' as const), paths: fc.uniqueArray(path, { maxLength: 4 }), text }),
    fc.record({ kind: fc.constant('delete' as const), path }),
    fc.record({ kind: fc.constant('rename' as const), path, to: path }),
  ),
  { maxLength: 12 },
)

function applied(tree: Tree, changes: readonly FileChange[]): Tree {
  const result = new Map(tree)
  for (const change of changes) {
    const before = tree.get(change.path)
    const { executable = before?.executable ?? false } = change
    if (change.kind === 'delete') result.delete(change.path)
    else if (change.kind === 'create') result.set(change.path, { content: Buffer.from(change.content), executable })
    else {
      const bytes = applyEdits(before?.content ?? Buffer.alloc(0), change.edits)
      result.set(change.path, { content: Buffer.from(bytes), executable })
    }
  }
  return result
}

const sorted = (tree: Tree) => [...tree].toSorted(([one], [other]) => (one < other ? -1 : 1))

function namesIn(tree: Tree, folder: string): string[] {
  const prefix = folder === '' ? '' : `${folder}/`
  const below = [...tree.keys()].filter((at) => at.startsWith(prefix)).map((at) => at.slice(prefix.length))
  return [...new Set(below.map((at) => (at.includes('/') ? `${at.split('/')[0]}/` : at)))].toSorted()
}

describe('what an attempt makes of its files', () => {
  it('is what the same steps make of a plain table, for reads, listings, changes and a later attempt', async () => {
    await fc.assert(
      fc.asyncProperty(base, steps, async (before, all) => {
        const workspace = workspaceOver(before)
        const tree = new Map(before)
        for (const one of all) await step(workspace, { before, tree }, one)
        for (const at of paths) {
          expect(workspace.exists(at)).toBe(tree.has(at))
          expect(workspace.list(at)).toEqual(namesIn(tree, at))
          const isText = tree.get(at)?.content.equals(Buffer.from(tree.get(at)?.content.toString() ?? '')) === true
          const read = workspace.readText(at).catch((fault: WorkspaceFault) => fault.kind)
          const otherwise = tree.has(at) ? 'not-text' : 'not-found'
          expect(await read).toBe(isText ? tree.get(at)?.content.toString() : otherwise)
        }
        expect(workspace.list('')).toEqual(namesIn(tree, ''))
        const changes = await workspace.changes()
        expect(sorted(applied(before, changes))).toEqual(sorted(tree))
        const later = workspaceOver(before, { ...workspace.written(), reads: workspace.reads() })
        expect(await later.changes()).toEqual(changes)
      }),
      { numRuns: draws(500) },
    )
  })
})

async function writeTree(dir: string, tree: Tree): Promise<void> {
  for (const [at, { content: bytes, executable }] of tree) {
    await mkdir(dirname(join(dir, at)), { recursive: true })
    await writeFile(join(dir, at), bytes)
    await chmod(join(dir, at), executable ? 0o755 : 0o644)
  }
}

async function readTree(dir: string): Promise<Tree> {
  const tree = new Map<string, File>()
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name)
    const at = relative(dir, full)
    if (!entry.isFile() || at.startsWith('.git/')) continue
    tree.set(at, { content: await readFile(full), executable: ((await stat(full)).mode & 0o100) !== 0 })
  }
  return tree
}

describe.skipIf(lacks('git'))('the patch of what an attempt made', () => {
  it('gives with git apply the same files, byte for byte, with the same modes', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(base, steps, async (before, all) => {
        const workspace = workspaceOver(before)
        const after = new Map(before)
        for (const one of all) await step(workspace, { before, tree: after }, one)
        const changes = await workspace.changes()
        fc.pre(changes.length > 0)
        const dir = await mkdtemp(join(tmpdir(), 'remora-tree-'))
        try {
          await run('git', ['init', '-q', dir])
          await writeTree(dir, before)
          const patch = changes.map((change) => {
            const [was, is] = [before.get(change.path), after.get(change.path)]
            const { executable } = change
            return unifiedDiff({
              path: change.path,
              before: was?.content ?? null,
              after: is?.content ?? null,
              executable,
            })
          })
          await writeFile(join(dir, '.git', 'all.patch'), Buffer.concat(patch))
          const { stderr } = await run('git', ['-C', dir, 'apply', '--whitespace=nowarn', join(dir, '.git/all.patch')])
          expect(stderr).toBe('')
          expect(sorted(await readTree(dir))).toEqual(sorted(after))
        } finally {
          await rm(dir, { recursive: true, force: true })
        }
      }),
      { numRuns: draws(60) },
    )
  })
})
