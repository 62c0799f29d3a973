import { expect, it } from 'vitest'
import type { FileChange } from '#domain/change-set.ts'
import { linesChangedBy } from './file-versions.ts'

const base = 'one\ntwo\nthree\n'
const readBlob = async () => Buffer.from(base)
const edit = (start: number, end: number, text: string): FileChange => {
  return { kind: 'edit', path: 'a', baseHash: 'h', edits: [{ start, end, text }] }
}

it.each<[string, FileChange, number]>([
  ['an edit within a line', edit(0, 1, 'O'), 2],
  ['a line that is put in', edit(4, 4, 'one and a half\n'), 1],
  ['two lines that become three', edit(4, 14, '2\n3\n4\n'), 5],
  ['lines that look like the head of a patch', edit(4, 4, '++ b\n-- a\n'), 2],
  ['a new file', { kind: 'create', path: 'a', content: 'x\ny' }, 2],
  ['an empty new file', { kind: 'create', path: 'a', content: '' }, 0],
  ['a deleted file', { kind: 'delete', path: 'a', baseHash: 'h' }, 3],
  ['a mode', { kind: 'edit', path: 'a', baseHash: 'h', edits: [], executable: true }, 0],
])('counts the lines of %s', async (_what, file, lines) => {
  expect(await linesChangedBy({ files: [file] }, readBlob)).toEqual(new Map([['a', lines]]))
})
