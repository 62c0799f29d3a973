import { describe, expect, it } from 'vitest'
import { folderOf } from '#domain/repo-path.ts'
import { readConfigTree } from './config-tree.ts'
import { readEditorConfig } from './editorconfig.ts'

function pairsOf(files: Record<string, string>, path: string): Record<string, string> {
  const tree = readConfigTree(
    Object.entries(files).map(([name, text]) => ({ path: name, text })),
    () => undefined,
  )
  return Object.fromEntries(readEditorConfig(tree)(folderOf(path))?.(path) ?? [])
}

describe('.editorconfig', () => {
  it('counts sections in order, and nearer files more', () => {
    const files = {
      '.editorconfig': 'root = true\n[*]\nIndent_Style = Space\nindent_size=4\n[*.py]\nmax_line_length = 100 \n',
      'a/.editorconfig': '[*.py]\nmax_line_length = off\n',
    }
    expect(pairsOf(files, 'b.py')).toEqual({ indent_style: 'space', indent_size: '4', max_line_length: '100' })
    expect(pairsOf(files, 'a/b.py')).toMatchObject({ indent_size: '4', max_line_length: 'off' })
  })

  it('stops at a root', () => {
    const files = { '.editorconfig': '[*]\na=1\n', 'sub/.editorconfig': 'root=true\n[*]\nb=2\n' }
    expect(pairsOf(files, 'sub/deep/x.py')).toEqual({ b: '2' })
  })

  it.each([
    ['*.{py,pyi}', 'a/b.pyi', true],
    ['**.py', 'a/b.py', true],
    ['/*.py', 'a/b.py', false],
    ['src/*.py', 'src/b.py', true],
    ['src/*.py', 'src/a/b.py', false],
    ['src/**.py', 'src/a/b.py', true],
    ['src/**/t_?.py', 'src/a/b/t_1.py', true],
    ['file{1..3}.py', 'file2.py', true],
    ['file{1..3}.py', 'file4.py', false],
    ['[!a]*.py', 'b.py', true],
  ])('[%s] means %s: %s', (pattern, path, isMeant) => {
    expect(pairsOf({ '.editorconfig': `[${pattern}]\na = 1\n` }, path)).toEqual(isMeant ? { a: '1' } : {})
  })
})
