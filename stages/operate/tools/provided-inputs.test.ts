import { expect, it } from 'vitest'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { virtualFiles } from './provided-inputs.ts'

it('the files of a script are as the workspace has them now, without what is no text or not there', async () => {
  const workspace = openWorkspace(baseOver({ 'a.py': 'a', 'b.py': 'b', 'c.bin': Uint8Array.of(0xff, 0) }))
  await workspace.writeText('b.py', 'changed')
  const files = await virtualFiles(workspace, ['a.py', 'b.py', 'c.bin', 'none.py', 'a.py'])
  expect(files).toEqual({ 'a.py': 'a', 'b.py': 'changed' })
})

it('the files of a script are at most 20 and 500,000 characters, the first of them before the others', async () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${at}.py`, `${at}`]))
  const large = { 'large.py': 'x'.repeat(300_000), 'larger.py': 'x'.repeat(300_000), 'small.py': 'x' }
  const workspace = openWorkspace(baseOver({ ...many, ...large }))
  expect(Object.keys(await virtualFiles(workspace, Object.keys(many)))).toHaveLength(20)
  const files = await virtualFiles(workspace, Object.keys(large))
  expect(Object.keys(files)).toEqual(['large.py', 'small.py'])
})
