import { describe, expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { type Mutant, mutantsOf } from './mutants.ts'

async function mutants(language: string, text: string, most = 40, from = 0, end = text.length): Promise<Mutant[]> {
  const loaded = await loadLanguage(language)
  return loaded.read(text, (tree) => mutantsOf(tree, { language, start: from, end, most }))
}

async function whats(language: string, text: string): Promise<string[]> {
  return (await mutants(language, text)).map(({ line, what }) => `${line}: ${what.replaceAll('`', '')}`)
}

const pythonCode = `def f(a, b=1):
    """Not this one."""
    if a < b and not a:
        raise ValueError("no")
    total = a + 2
    total += b
    log(total)
    return total if a is None else True
`

describe('the mutants of a piece of code', () => {
  it('are, in Python, one for each thing that an operator knows', async () => {
    expect(await whats('python', pythonCode)).toEqual([
      '1: 1 became 2',
      '3: a < b and not a became not (a < b and not a)',
      '3: < became <=',
      '3: and became or',
      '3: not a became a',
      '4: raise ValueError("no") became pass',
      '4: "no" became ""',
      '5: total = a + 2 became pass',
      '5: + became -',
      '5: 2 became 3',
      '6: total += b became pass',
      '6: += became -=',
      '7: log(total) became pass',
      '8: total if a is None else True became None',
      '8: a is None became not (a is None)',
      '8: is became is not',
      '8: True became False',
    ])
  })

  it.each(['javascript', 'typescript', 'tsx'])('are, in %s, the same', async (language) => {
    const code = `export const g = (a) => a === 'x' || !a\nfunction f(a) {\n  if (a >= 10) throw new Error('no')\n  a++\n  return a ? a - 1 : false\n}\n`
    expect(await whats(language, code)).toEqual([
      "1: a === 'x' || !a became undefined",
      '1: === became !==',
      '1: \'x\' became ""',
      '1: || became &&',
      '1: !a became a',
      '3: (a >= 10) became (!(a >= 10))',
      '3: >= became >',
      '3: 10 became 11',
      "3: throw new Error('no') became ;",
      '3: \'no\' became ""',
      '4: a++ became ;',
      '4: ++ became --',
      '5: a became !(a)',
      '5: a ? a - 1 : false became undefined',
      '5: - became +',
      '5: 1 became 2',
      '5: false became true',
    ])
  })

  it('still parse', async () => {
    const python = await loadLanguage('python')
    for (const { start, end, text } of await mutants('python', pythonCode)) {
      const mutated = pythonCode.slice(0, start) + text + pythonCode.slice(end)
      expect(python.read(mutated, (tree) => tree.rootNode.hasError)).toBe(false)
    }
  })

  it('leave types, decorators, docstrings and imports as they are', async () => {
    expect(await whats('typescript', 'function f(a: 1 | 2, b: Array<3>): true { return g(a) }\n')).toEqual([
      '1: g(a) became undefined',
    ])
    const code = '@cache(16)\ndef f(a: "int") -> "str":\n    "Text."\n    from x import y\n    return y\n'
    expect(await whats('python', code)).toEqual(['5: y became None'])
  })

  it('are of the asked part alone', async () => {
    const code = 'def f(a):\n    return a + 1\n\ndef g(a):\n    return a + 1\n'
    const found = await mutants('python', code, 40, code.indexOf('def g'))
    expect(found.map(({ line }) => line)).toEqual([5, 5, 5])
  })

  it('are as many as asked for, of as many operators as there are, over all of the code, and the same each time', async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `    if a == ${at}:\n        a += ${at}\n`)
    const code = `def f(a):\n${lines.join('')}    return a\n`
    const found = await mutants('python', code, 8)
    expect(found).toHaveLength(8)
    expect(await mutants('python', code, 8)).toEqual(found)
    const kinds = new Set(found.map(({ what }) => what.replaceAll(/\d+/g, 'n')))
    expect(kinds.size).toBeGreaterThan(4)
    const places = found.map(({ line }) => line)
    expect(Math.max(...places) - Math.min(...places)).toBeGreaterThan(50)
  })

  it('are none where there is nothing to change, and of a language without operators', async () => {
    expect(await mutants('python', 'def f():\n    pass\n')).toEqual([])
    expect(await mutants('go', 'package a\nfunc f() int { return 1 }\n')).toEqual([])
  })
})
