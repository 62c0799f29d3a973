import { describe, expect, it } from 'vitest'
import { filePath } from './conversation.ts'

const pathIn = (userText: string) => filePath({ steps: [], userText, tools: new Map() })

describe('filePath', () => {
  it.for([
    ['The node is the function f in src/pkg/mod.py:', 'src/pkg/mod.py'],
    ['Tidy order.total and ./web/app.test.tsx.', './web/app.test.tsx'],
    ['a.py.bak and b.md', 'a.py'],
    ['nothing.here, or .py', undefined],
  ] as const)('finds the path in %j', ([text, path]) => expect(pathIn(text)).toBe(path))

  it('takes what a tool named before what the text says', () => {
    const step = { tool: 'read_file', args: {}, result: { path: 'b.py' }, failed: false }
    expect(filePath({ steps: [step], userText: 'a.py', tools: new Map() })).toBe('b.py')
  })

  // One step per pair of letters would take longer than a test may.
  it('looks through a long word in time that grows with its length', () => {
    expect(pathIn('a'.repeat(400_000))).toBeUndefined()
    expect(pathIn('a.'.repeat(200_000))).toBeUndefined()
  })
})
