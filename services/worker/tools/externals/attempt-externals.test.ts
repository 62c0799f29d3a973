import { describe, expect, it } from 'vitest'
import type { BaseLayer } from '../../workspace/base-layer.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { fileExternals } from './attempt-externals.ts'

const empty: BaseLayer = {
  find: () => undefined,
  kindAt: () => undefined,
  list: () => [],
  read: async () => new Uint8Array(),
}

async function reading(text: string, ...lines: (number | null)[]): Promise<unknown> {
  const workspace = openWorkspace(empty)
  await workspace.writeText('a.py', text)
  return fileExternals(workspace)['read_file']?.(['a.py', ...lines])
}

const ten = Array.from({ length: 10 }, (_, at) => `${at + 1}\n`).join('')

describe('read_file', () => {
  it('reads all, or the lines asked for, both included', async () => {
    expect(await reading(ten)).toBe(ten)
    expect(await reading(ten, null, null)).toBe(ten)
    expect(await reading(ten, 2, 3)).toBe('2\n3\n')
    expect(await reading(ten, null, 2)).toBe('1\n2\n')
    expect(await reading(ten, 9)).toBe('9\n10\n')
    expect(await reading('a\r\nb', 2, 2)).toBe('b')
  })

  it('ends with the file when more is asked for', async () => {
    expect(await reading(ten, 10, 500)).toBe('10\n')
  })

  it.each([
    ['start_line (5) must be <= end_line (2)', 5, 2],
    ['start_line (100) is beyond end of file (10 lines)', 100, 200],
    ['start_line (0) must be at least 1', 0, 3],
    ['start_line (-4) must be at least 1', -4, 3],
  ])('refuses with "%s"', async (words, from, to) => {
    await expect(reading(ten, from, to)).rejects.toThrow(words)
  })
})
