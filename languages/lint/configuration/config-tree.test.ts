import { describe, expect, it } from 'vitest'
import { iniList, readIni } from './config-tree.ts'

const plain = (text: string) => {
  const read = readIni(text)
  return 'fault' in read ? read : Object.fromEntries([...read].map(([name, own]) => [name, Object.fromEntries(own)]))
}

describe('an INI file as Python reads it', () => {
  it('knows values of several lines, with comments and empty lines between them', () => {
    const text = '[flake8]\nignore =\n    E203,\n    # a reason\n    W503\n\n    E501\nMax-Line-Length : 100\n'
    expect(plain(text)).toEqual({ flake8: { ignore: '\nE203,\nW503\nE501', 'max-line-length': '100' } })
  })

  it('leaves interpolation and comments behind a value as they are', () => {
    expect(plain('[a]\nx = %(y)s ; no comment\n; comment\ny=1#2\n')).toEqual({
      a: { x: '%(y)s ; no comment', y: '1#2' },
    })
  })

  it('continues an option that is indented itself only by what is deeper', () => {
    expect(plain('[a]\n  x = 1\n  y = 2\n    3\n')).toEqual({ a: { x: '1', y: '2\n3' } })
  })

  it('gives every section the defaults, and joins a section that is there twice', () => {
    expect(plain('[DEFAULT]\nx=1\n[a]\ny=2\n[a]\ny=3\nz=\n')).toMatchObject({ a: { x: '1', y: '3', z: '' } })
  })

  it.each([
    ['x = 1\n', 'line 1'],
    ['[a]\nno option\n', 'line 2'],
  ])('says which line is wrong: %j', (text, words) => {
    expect(plain(text)).toMatchObject({ fault: expect.stringContaining(words) })
  })

  it('splits lists at commas, spaces and line ends', () => {
    expect(iniList('\nE1, W2\nF3 C4,')).toEqual(['E1', 'W2', 'F3', 'C4'])
  })
})
