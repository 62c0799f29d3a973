import { expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { virtualFiles } from './provided-inputs.ts'

function workspaceOf(files: Record<string, string | Uint8Array>) {
  const blobs = new Map(Object.values(files).map((content) => [sha256(content), Buffer.from(content)]))
  const hashOf = (path: string) => (Object.hasOwn(files, path) ? sha256(files[path] ?? '') : undefined)
  return openWorkspace({
    find: (path) => (hashOf(path) === undefined ? undefined : { hash: hashOf(path) ?? '' }),
    kindAt: (path) => (hashOf(path) === undefined ? undefined : 'file'),
    list: () => [],
    read: async (hash) => blobs.get(hash) ?? Promise.reject(new Error('no blob')),
  })
}

it('the files of a script are as the workspace has them now, without what is no text or not there', async () => {
  const workspace = workspaceOf({ 'a.py': 'a', 'b.py': 'b', 'c.bin': Uint8Array.of(0xff, 0) })
  await workspace.writeText('b.py', 'changed')
  const files = await virtualFiles(workspace, ['a.py', 'b.py', 'c.bin', 'none.py', 'a.py'])
  expect(files).toEqual({ 'a.py': 'a', 'b.py': 'changed' })
})

it('the files of a script are at most 20 and 500,000 characters, the first of them before the others', async () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${at}.py`, `${at}`]))
  const large = { 'large.py': 'x'.repeat(300_000), 'larger.py': 'x'.repeat(300_000), 'small.py': 'x' }
  const workspace = workspaceOf({ ...many, ...large })
  expect(Object.keys(await virtualFiles(workspace, Object.keys(many)))).toHaveLength(20)
  const files = await virtualFiles(workspace, Object.keys(large))
  expect(Object.keys(files)).toEqual(['large.py', 'small.py'])
})
