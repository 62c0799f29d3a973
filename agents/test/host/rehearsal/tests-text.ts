import { z } from 'zod'

export const Facts = z.object({
  name: z.string(),
  qualified_name: z.string(),
  language: z.string(),
  code: z.string(),
  runner: z.string(),
  style: z.enum(['unittest', 'functions', 'suites']),
  imports: z.string(),
  import_here: z.string(),
  line_length: z.number().default(88),
})
export type Facts = z.infer<typeof Facts>

/** What a probe has seen: a call with what it returned or raised, or with what its object had afterwards. Values are expressions. */
export const Case = z.object({
  call: z.string(),
  make: z.string().optional(),
  imports: z.array(z.string()).default([]),
  async: z.boolean().default(false),
  result: z.string().optional(),
  raises: z.string().optional(),
  state: z.record(z.string(), z.string()).optional(),
})
export type Case = z.infer<typeof Case>

/** A file of tests that states what was seen; without cases, that the code can be called at all. */
export function testsText(facts: Facts, cases: readonly Case[]): string {
  const known = cases.length === 0 ? [{ call: `${facts.qualified_name}()`, imports: [], async: false }] : cases
  return facts.language === 'python' ? pythonText(facts, known) : scriptText(facts, known)
}

function pythonText({ qualified_name: name, style, imports, import_here: importHere }: Facts, cases: readonly Case[]) {
  const isPytest = style === 'functions'
  const own = imports.split('\n').filter((line) => line !== importHere)
  const needed = new Set([importHere, ...cases.flatMap((seen) => seen.imports)])
  const wantsPytest = isPytest && cases.some(({ raises }) => raises !== undefined)
  const header = [own.join('\n').trim(), wantsPytest ? 'import pytest' : '', groupedImports([...needed])]
  const names = uniqueNames(cases)
  const tests = cases.map((seen, at) => pythonTest(seen, names[at] ?? '', isPytest))
  const body = isPytest
    ? tests.join('\n\n')
    : `class ${className(name)}(unittest.TestCase):\n${tests.map((test) => test.replaceAll(/^(?=.)/gm, '    ')).join('\n')}`
  return `${header.filter((part) => part !== '').join('\n\n')}\n\n\n${body}`
}

function groupedImports(lines: readonly string[]): string {
  const names = new Map<string, Set<string>>()
  for (const line of lines) {
    const [, module, name] = /^from (\S+) import (\S+)$/.exec(line) ?? []
    if (module === undefined || name === undefined) continue
    names.set(module, (names.get(module) ?? new Set()).add(name))
  }
  const plain = lines.filter((line) => !line.startsWith('from ')).toSorted()
  const from = [...names].map(([module, all]) => `from ${module} import ${[...all].toSorted().join(', ')}`).toSorted()
  const isStandard = (line: string) =>
    /^(?:import|from) (?:asyncio|collections|datetime|decimal|enum|fractions|io|itertools|pathlib|re)\b/.test(line)
  const all = [...plain, ...from]
  const groups = [all.filter(isStandard), all.filter((line) => !isStandard(line))]
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.join('\n'))
    .join('\n\n')
}

function pythonTest({ call, make, result, raises, state }: Case, name: string, isPytest: boolean): string {
  const self = isPytest ? '' : 'self'
  const equal = (left: string, right: string) => {
    if (right === 'None') return isPytest ? `assert ${left} is None` : `self.assertIsNone(${left})`
    if (right === 'True') return isPytest ? `assert ${left} is True` : `self.assertTrue(${left})`
    if (right === 'False') return isPytest ? `assert ${left} is False` : `self.assertFalse(${left})`
    return isPytest ? `assert ${left} == ${right}` : `self.assertEqual(${left}, ${right})`
  }
  const lines =
    raises !== undefined
      ? [isPytest ? `with pytest.raises(${raises}):` : `with self.assertRaises(${raises}):`, `    ${call}`]
      : state !== undefined
        ? [`subject = ${make}`, call, ...Object.entries(state).map(([key, value]) => equal(`subject.${key}`, value))]
        : [result === undefined ? call : equal(call, result)]
  return `def test_${name}(${self}):\n${lines.map((line) => `    ${line}\n`).join('')}`
}

function className(qualifiedName: string): string {
  const words = qualifiedName.split(/[._]+/).filter((word) => word !== '')
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Test`
}

const longestName = 50

function uniqueNames(cases: readonly Case[]): string[] {
  const times = new Map<string, number>()
  return cases.map(({ call, raises }) => {
    const words = `${call
      .replace(/^subject\./, '')
      .replaceAll(/\W+/g, '_')
      .toLowerCase()}${raises === undefined ? '' : '_is_refused'}`
    const name = words.replaceAll(/_+/g, '_').slice(0, longestName).replaceAll(/^_|_$/g, '') || 'it'
    const time = (times.get(name) ?? 0) + 1
    times.set(name, time)
    return time === 1 ? name : `${name}_${time}`
  })
}

function scriptText({ imports, runner, line_length: most }: Facts, cases: readonly Case[]): string {
  const tests = cases.map((seen) => scriptTest(seen, { isVitest: runner === 'vitest', most }))
  return `${imports}\n${tests.filter((test) => test.split('\n').every(({ length }) => length <= most)).join('\n')}`
}

type Writing = { isVitest: boolean; most: number }

function scriptTest({ call, async: isAsync, result, raises }: Case, { isVitest, most }: Writing): string {
  const waiting = isAsync ? 'await ' : ''
  const around = `test('', ${isAsync ? 'async ' : ''}() => {`
  const title = quoted(
    `${call} ${raises === undefined ? `is ${result ?? 'possible'}` : 'is refused'}`,
    most - around.length,
  )
  const isPlain = result === undefined || !/^[[{]/.test(result)
  const value = `${waiting}${call}`
  let lines = [value]
  if (raises !== undefined) {
    const thrown = isAsync ? 'rejects' : 'throws'
    lines = isVitest
      ? [`${waiting}expect(() => ${call})${isAsync ? '.rejects' : ''}.toThrow()`]
      : argumentsIn(`${waiting}assert.${thrown}`, [`() => ${call}`, `{ name: '${raises}' }`], most)
  } else if (result !== undefined) {
    const expected = (left: string) => argumentsIn(`${left}.${isPlain ? 'toBe' : 'toEqual'}`, [result], most)
    lines = isVitest
      ? expected(`expect(${value})`)
      : argumentsIn(`assert.${isPlain ? 'equal' : 'deepEqual'}`, [value, result], most)
  }
  return `${around.replace("''", () => title)}\n${lines.map((line) => `  ${line}\n`).join('')}})\n`
}

function quoted(title: string, room: number): string {
  const shown = title.length + 1 > room ? `${title.slice(0, Math.max(1, room - 4))}…` : title
  const text = JSON.stringify(shown)
  return text.includes("'") || text.includes('\\') ? text : `'${text.slice(1, -1)}'`
}

function argumentsIn(called: string, given: readonly string[], most: number): string[] {
  const line = `${called}(${given.join(', ')})`
  return line.length + 2 <= most ? [line] : [`${called}(`, ...given.map((argument) => `  ${argument},`), ')']
}
