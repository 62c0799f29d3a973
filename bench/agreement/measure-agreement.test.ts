import { describe, expect, it } from 'vitest'
import { compareDefinitions } from './measure-agreement.ts'
import type { Definition } from './python-ast.ts'

const f: Definition = { kind: 'function', qualifiedName: 'f', startLine: 1, endLine: 2, startByte: 0, endByte: 20 }
const g: Definition = { kind: 'function', qualifiedName: 'g', startLine: 4, endLine: 5, startByte: 30, endByte: 50 }

describe('compareDefinitions', () => {
  it('finds nothing in equal lists, whatever their order', () => {
    expect(compareDefinitions([g, f], [f, g])).toEqual({ agreed: 2, differences: [] })
  })

  it('names what one side lacks, and counts equal ones as often as they are there', () => {
    const { agreed, differences } = compareDefinitions([f], [f, f, g])
    expect(agreed).toBe(1)
    expect(differences).toEqual([
      'only ast: function f lines 1-2 bytes 0-20',
      'only ast: function g lines 4-5 bytes 30-50',
    ])
    expect(compareDefinitions([f, g], [f]).differences).toEqual(['only ours: function g lines 4-5 bytes 30-50'])
  })

  it.each([
    { kind: 'method' },
    { qualifiedName: 'A.f' },
    { startLine: 2 },
    { endLine: 3 },
    { startByte: 1 },
    { endByte: 21 },
  ])('sees another %j', (other) => {
    expect(compareDefinitions([{ ...f, ...other }], [f])).toEqual({ agreed: 0, differences: [expect.any(String)] })
  })

  it('takes names for one that are one to Python', () => {
    expect(compareDefinitions([{ ...f, qualifiedName: 'ﬁ' }], [{ ...f, qualifiedName: 'fi' }]).agreed).toBe(1)
  })
})
