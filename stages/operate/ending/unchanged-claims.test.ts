import { describe, expect, it } from 'vitest'
import { unchangedClaims } from './verify-submission.ts'

const changed = ['src/shop.py', 'src/cart.py', 'lib/cart.py']

describe('a file that a model says it changed', () => {
  it.each([
    'src/shop.py',
    './src//shop.py',
    'a/src/shop.py',
    'b/src/shop.py',
    '/repo/src/shop.py',
    '/src/shop.py',
    'C:\\work\\src\\shop.py',
    'src\\shop.py',
    'shop.py',
    ' src/shop.py\n',
    '/home/me/lib/cart.py',
  ])('is the one that was, named %j', (claim) => {
    expect(unchangedClaims([claim], changed)).toEqual([])
  })

  it.each([
    ['of two that end so', 'cart.py'],
    ['of which only a part of a name is the end', 'op.py'],
    ['in another folder', 'other/src/shop.py'],
    ['elsewhere on the machine', '/etc/passwd'],
    ['above the repository', '../src/shop.py'],
    ['that is a folder', 'src'],
    ['without a name', ''],
  ])('was not, %s', (_what, claim) => {
    expect(unchangedClaims([claim], changed)).toEqual([claim])
  })

  it('is listed once, however often it is named', () => {
    expect(unchangedClaims(['x.py', './x.py', 'x.py'], changed)).toEqual(['x.py'])
  })
})
