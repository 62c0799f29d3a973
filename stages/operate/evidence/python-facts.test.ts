import { beforeAll, describe, expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { openPythonFacts } from './python-facts.ts'

let compare: ReturnType<typeof openPythonFacts>
beforeAll(async () => {
  compare = openPythonFacts(await loadLanguage('python'))
})

describe('the pairs of statements before and after a change', () => {
  const operators = ['+', '-', '*', '/', '%', '|', '&', '^']
  const statement = (at: number, words: number) =>
    Array.from({ length: words }, (_, word) => `x${at}_${word}`).join(` ${operators[at % operators.length]} `)
  /** The first statement goes to the end, and every one gets a name. */
  const turned = (count: number, words: number) => {
    const places = Array.from({ length: count }, (_, at) => at)
    const before = places.map((at) => `${statement(at, words)}\n`)
    const after = [...places.slice(1), 0].map((at) => `y${at} = ${statement(at, words)}\n`)
    return [...compare(before.join(''), after.join('')).pairs().forward]
  }

  it('are those that share most code', () => {
    expect(turned(8, 10)).toEqual([-1, 0, 1, 2, 3, 4, 5, 6])
  })

  it('are those in the same place where so much has changed that to compare all would take too long', () => {
    expect(turned(100, 60)).toEqual(Array.from({ length: 100 }, (_, at) => at))
  })
})
