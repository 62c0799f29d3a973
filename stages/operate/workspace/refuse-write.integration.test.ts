import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import type { SnapshotFile, SnapshotView } from '#store/objects/snapshot.ts'
import { lacks } from '#testing/this-machine.ts'
import { baseLayerOf } from './base-layer.ts'
import { openWorkspace, type Workspace } from './open-workspace.ts'

const run = promisify(execFile)
const source = 'x = 1\n'
const file = (path: string): SnapshotFile => ({ path, hash: sha256(source), size: source.length, executable: false })
const files = [file('a.py'), file('pkg/b.py')]
const snapshot: SnapshotView = {
  id: 's',
  bytes: 2 * source.length,
  files,
  links: [
    { path: 'latest', target: 'pkg' },
    { path: 'links/one', target: '../a.py' },
  ],
  skipped: [{ path: 'left/out', reason: 'the name is not UTF-8' }],
  find: (path) => files.find((one) => one.path === path),
}

let dir = ''
const workspace = (): Workspace =>
  openWorkspace(baseLayerOf(snapshot, { get: async () => Buffer.from(source) }, 'project'))

/**
 * What git says to a patch that creates this file; '' when it is there now. `--check` alone misses a file as a folder.
 */
async function gitSays(path: string): Promise<string> {
  const patch = join(dir, '.git', 'new.patch')
  const [from, to] = [JSON.stringify(`a/${path}`), JSON.stringify(`b/${path}`)]
  const header = `diff --git ${from} ${to}\nnew file mode 100644\n--- /dev/null\n+++ ${to}\n`
  await writeFile(patch, `${header}@@ -0,0 +1 @@\n+y = 2\n`)
  return run('git', ['-C', dir, 'apply', patch]).then(
    () => '',
    (error: unknown) => String(error),
  )
}

describe.skipIf(lacks('git'))('what a workspace lets be written, and git too,', () => {
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-writes-'))
    await run('git', ['init', '-q', dir])
    await run('git', ['-C', dir, 'config', 'core.protectHFS', 'true'])
    for (const folder of ['pkg', 'links', 'left']) await mkdir(join(dir, folder))
    for (const path of ['a.py', 'pkg/b.py', 'left/out']) await writeFile(join(dir, path), source)
    for (const { path, target } of snapshot.links) await symlink(target, join(dir, path))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  it.each(['new.py', 'pkg/new.py', 'new/deep/er.py', '.github/workflows/x.yml', '.gitignore', 'links/two', 'git.py'])(
    '%j, git takes',
    async (path) => {
      expect(await gitSays(path)).toBe('')
      await workspace().writeText(path, 'y = 2\n')
    },
  )

  it.each([
    ['a link', 'latest', 'TOOL_007'],
    ['a link in a folder of links alone', 'links/one', 'TOOL_007'],
    ['what a link leads to', 'latest/new.py', 'TOOL_007'],
    ["git's own folder", '.git/hooks/post-checkout', 'TOOL_007'],
    ["git's own folder, in capitals", '.GIT/config', 'TOOL_007'],
    ["git's own folder, deeper", 'pkg/.git/config', 'TOOL_007'],
    ["git's own folder as Windows reads it", 'GIT~1/config', 'TOOL_007'],
    ["git's own folder with a tail Windows drops", '.git. ./config', 'TOOL_007'],
    ["git's own folder as a stream", '.git::$INDEX_ALLOCATION/config', 'TOOL_007'],
    ["git's own folder as macOS reads it", '.g\u200cit/config', 'TOOL_007'],
  ])('is not %s: %j', async (_what, path, code) => {
    expect(await gitSays(path)).toMatch(/already exists|invalid path|beyond a symbolic link/)
    await expect(workspace().writeText(path, 'y = 2\n')).rejects.toMatchObject({ code })
  })

  it.each([
    ['below a file', 'a.py/b.py'],
    ['a path that the snapshot passed over', 'left/out'],
    ['below a path that the snapshot passed over', 'left/out/new.py'],
  ])('is not %s: %j', async (_what, path) => {
    expect(await gitSays(path)).not.toBe('')
    await expect(workspace().writeText(path, 'y = 2\n')).rejects.toMatchObject({ kind: 'refused' })
  })
})

describe('what a workspace lets be deleted, or renamed,', () => {
  it.each([
    ['a link', 'latest', 'TOOL_007'],
    ['what a link leads to', 'latest/b.py', 'TOOL_007'],
    ["git's own folder", '.git/config', 'TOOL_007'],
    ['outside', '../a.py', 'TOOL_007'],
    ['half of a character', `${'🙂'.slice(0, 1)}.py`, 'TOOL_007'],
    ['a folder', 'pkg', 'refused'],
    ['what the snapshot passed over', 'left/out', 'refused'],
    ['below a file', 'a.py/b.py', 'refused'],
    ['nothing', 'pkg/none.py', 'not-found'],
  ])('is not %s: %j', async (_what, path, reason) => {
    const changed = workspace()
    const reasonOf = (error: { code?: string; kind?: string }) => error.code ?? error.kind
    expect(await changed.deleteFile(path).catch(reasonOf)).toBe(reason)
    expect(['TOOL_007', 'not-found']).toContain(await changed.renameFile(path, 'new.py').catch(reasonOf))
    expect(changed.changedPaths()).toEqual([])
  })

  it.each([
    ['a link', 'latest'],
    ['what a link leads to', 'latest/c.py'],
    ["git's own folder", '.git/config'],
  ])('is no new name in %s: %j', async (_what, path) => {
    const changed = workspace()
    await expect(changed.renameFile('a.py', path)).rejects.toMatchObject({ code: 'TOOL_007' })
    expect(changed.changedPaths()).toEqual([])
  })
})
