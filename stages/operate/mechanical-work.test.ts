import { expect, it } from 'vitest'
import { leftAloneText } from './mechanical-work.ts'

const left = (rule: string, line: number, reason: string) => ({ rule, line, reason })

it('names each reason once, after its places', () => {
  const gone = 'comments_kept: the comment is gone'
  expect(
    leftAloneText([left('F401', 1, gone), left('F401', 1, gone), left('I001', 4, 'why'), left('UP006', 9, gone)]),
  ).toBe(`F401 in line 1, UP006 in line 9 (${gone}); I001 in line 4 (why)`)
})

it('counts the places and the reasons it does not name', () => {
  const one = [1, 2, 3, 4, 5].map((line) => left('F401', line, 'one'))
  const others = ['two', 'three', 'four', 'five'].map((reason) => left('E713', 7, reason))
  expect(leftAloneText([...one, ...others])).toBe(
    'F401 in line 1, F401 in line 2, F401 in line 3 and 2 more (one); E713 in line 7 (two); E713 in line 7 (three); and 2 more',
  )
})
