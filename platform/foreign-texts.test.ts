import { describe, expect, it } from 'vitest'
import { expandBraces, faultOfGlobs, pathGlobs } from '#domain/path-globs.ts'
import { scriptTestRunnerOf } from '#domain/script-test-runner.ts'
import { readConfigTree, readIni } from '#languages/lint/configuration/config-tree.ts'
import { readEditorConfig } from '#languages/lint/configuration/editorconfig.ts'
import { openCompletionStream } from '#models/wire/completion-client.ts'
import { nodeAt } from '#languages/comments/definition.ts'
import { pythonDocs } from '#languages/python/docstring-parameters.ts'
import { readSettingsFile } from '#settings/read-settings-file.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { ignoreRules, maxRuleBytes } from './git-ignore.ts'
import { maxJsonBytes, parseJsonWithComments } from './json-with-comments.ts'
import { maxTomlBytes, readToml } from './toml-source.ts'
import { maxYamlBytes, readYaml } from './yaml-source.ts'

const [python, script] = [await loadLanguage('python'), await loadLanguage('javascript')]

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Compares the processor time of two texts. A reader that looks at a text again and again needs thousands of times as much for the hostile
 * one: minutes. The second that is always allowed is for what the engine does beside it (compiling, collecting garbage).
 */
async function expectNoSlower(
  read: (text: string) => unknown,
  { hostile, usual }: { hostile: string; usual: string },
): Promise<void> {
  expect(hostile.length).toBeLessThanOrEqual(usual.length * 1.1)
  const quietly = async (text: string) => {
    try {
      await read(text)
    } catch {
      // What it says of a text that it refuses is tested elsewhere.
    }
  }
  await quietly(usual)
  const most = 1_000 + 30 * (await cpuMs(() => quietly(usual)))
  expect(await cpuMs(() => quietly(hostile))).toBeLessThan(most)
}

function rows(row: (at: number) => string, characters: number): string {
  let text = ''
  for (let at = 0; text.length < characters; at++) text += row(at)
  return text
}

describe('a text of a stranger', { timeout: 60_000 }, () => {
  it('is refused before it is parsed where it is too large', () => {
    const tooMany = rows((at) => `key${at}: 1\n`, 300_000)
    expect(() => readSettingsFile('remora.yaml', tooMany)).toThrow(
      /remora\.yaml:1:1: it has \d+ bytes, and at most 65536/,
    )
    expect(readYaml('!x '.repeat(200_000)).faults).toHaveLength(1)
    expect(readYaml(`a: ${'b'.repeat(maxYamlBytes)}`).value).toBeUndefined()
    expect(readToml(`a = "${'b'.repeat(maxTomlBytes)}"`)).toEqual({ fault: expect.stringContaining('at most 262144') })
    expect(() => parseJsonWithComments(`"${'b'.repeat(maxJsonBytes)}"`)).toThrow(/at most 1048576/)
    expect(readIni(rows(() => '[a]\n', 300_000))).toEqual({ fault: 'it has more than 262144 characters' })
    expect(ignoreRules(rows(() => 'a\n', maxRuleBytes + 2))('a', false)).toBe('unsaid')
  })

  it('with thousands of faults has twenty of them described, and the rest counted', () => {
    const unknown = rows((at) => `key${at}: 1\n`, 60_000)
    const message = messageOf(() => readSettingsFile('remora.yaml', unknown))
    expect(message.split('; ')).toHaveLength(21)
    expect(message).toMatch(/^remora\.yaml:1: unknown key key0: .*; remora\.yaml:21: and \d+ more faults$/)
    expect(readYaml(']'.repeat(60_000)).faults).toHaveLength(21)
    expect(readYaml('a: 1\n'.repeat(10_000)).faults.slice(-1)).toEqual([
      { at: { line: 22, column: 1 }, message: 'and 9979 more faults' },
    ])
    expect(messageOf(() => readSettingsFile('remora.yaml', `${'k'.repeat(60_000)}: 1`)).length).toBeLessThan(1_000)
  })

  it('of YAML with more aliases than anybody writes is refused, however little they stand for', () => {
    const text = (aliases: number) => `all:\n${rows((at) => `- &a${at} x\n- *a${at}\n`, aliases * 11)}`
    expect(readYaml('a: &a x\nb: [*a, *a]\n').value).toEqual({ a: 'x', b: ['x', 'x'] })
    expect(readYaml(text(5_000))).toMatchObject({
      value: undefined,
      faults: [{ at: { line: 103, column: 3 }, message: 'it has more than 50 aliases' }],
    })
  })

  it.each(['['.repeat(60_000), '- '.repeat(30_000), '? '.repeat(30_000)])('may be nested too deeply: %.5s…', (text) => {
    expect(readYaml(text).faults.length).toBeGreaterThan(0)
  })

  it.each([
    ['a comment that opens again and again', '/*'.repeat(200_000)],
    ['a string that is never closed', `"${'\\"'.repeat(200_000)}`],
    ['empty lines', '\n'.repeat(400_000)],
  ])('costs no more for %s in JSON with comments', async (_, hostile) => {
    const usual = `{${rows((at) => `"key${at}": 1, // one\n`, 400_000)}}`
    await expectNoSlower(parseJsonWithComments, { hostile, usual })
  })

  it('costs no more for a line of spaces in an INI file', async () => {
    const usual = rows((at) => `[s${at}]\na = 1\n`, 120_000)
    await expectNoSlower(readIni, { hostile: `[a]\nb${' '.repeat(119_000)}c`, usual })
  })

  it('costs no more for unpaired braces of a pattern', async () => {
    const usual = `{${rows(() => 'a,', 80_000)}}`
    await expectNoSlower((text) => [...expandBraces(text)], { hostile: '{'.repeat(80_000), usual })
  })

  it.each([`[${'{a,b}'.repeat(12_000)}]`, `[${'a**b/'.repeat(12_000)}]`, `[${'*a'.repeat(30_000)}]`])(
    'costs no more for the pattern %.8s… of an .editorconfig',
    async (section) => {
      const read = (text: string) => {
        const tree = readConfigTree([{ path: '.editorconfig', text }], () => {})
        readEditorConfig(tree)('')?.(`${'a'.repeat(200)}.py`)
      }
      const usual = rows((at) => `[*.${at}]\nindent_size = 4\n`, 60_000)
      await expectNoSlower(read, { hostile: `${section}\nindent_size = 4\n`, usual })
    },
  )

  it.each(['node ', 'vitest', '/ ', ' \n'])('costs no more for a script of %j in a package.json', async (word) => {
    const read = (text: string) => scriptTestRunnerOf('a.js', async () => text)
    const scripts = (command: (at: number) => string) =>
      JSON.stringify({
        scripts: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`test${at}`, command(at)])),
      })
    const usual = scripts((at) => `echo ${at} ${'word '.repeat(200)}`)
    await expectNoSlower(read, { hostile: scripts(() => word.repeat(600 / word.length)), usual })
  })

  it.each(['data:\n', ':\r', 'data: {"choices":[]}\r\n\r\n', `data: ${'['.repeat(50)}\n\n`, 'a'])(
    'costs no more for a stream of events of %j, in whatever pieces it comes',
    async (part) => {
      const read = (text: string) => {
        const stream = openCompletionStream()
        for (let at = 0; at < text.length; at += 1_000) if (stream.feed(text.slice(at, at + 1_000)) === 'enough') return
      }
      const usual = rows((at) => `data: {"choices":[{"index":0,"delta":{"content":"word ${at} "}}]}\n\n`, 1_000_000)
      await expectNoSlower(read, { hostile: part.repeat(1_000_000 / part.length), usual })
    },
  )

  it.each(['*a', '{a,b}', '[!', '?*', '**/'])('costs no more for globs of %j of a request', async (part) => {
    const read = (text: string) => {
      const globs = text.match(/.{1,150}/gs) ?? []
      const path = `${'a/'.repeat(100)}${'a'.repeat(200)}`
      for (let times = 0; times < 10; times++) if (faultOfGlobs(globs) === undefined) pathGlobs(globs)(path)
    }
    const usual = rows((at) => `src/name${at}/*.py`.padEnd(50, 'x').padEnd(150, 'y'), 2_000)
    await expectNoSlower(read, { hostile: part.repeat(2_000 / part.length), usual })
  })

  it.each(['**/a/**/a/**/b', '**/a/**/a/**/a/**/b', `${'*a'.repeat(7)}*[bc]`])(
    'costs no more for the rule %s of a .gitignore',
    async (rule) => {
      const path = rule.includes('/') ? 'a/'.repeat(200).slice(0, -1) : 'a'.repeat(250)
      const judge = (text: string) => ignoreRules(text)(path, false)
      const usual = rows((at) => `name${at}\n`, 200)
      await expectNoSlower(judge, { hostile: rule, usual })
      expect(judge(rule)).toBe('unsaid')
    },
  )

  const blanks = ' '.repeat(20_000)
  it.each([
    ['a name far from its colon', `Args:\n    a${blanks}x`],
    ['a name of numpy far from its type', `Parameters\n----------\na${blanks}x`],
    ['a field without an end', `:param a: One.\n:param${blanks}x`],
    ['a line of blanks', `${blanks}x`],
  ])('costs no more for a docstring with %s', async (_, hostile) => {
    const usual = `Args:\n${rows((at) => `    name${at} (int): What the caller wants.\n`, 22_000)}`
    const docstring = (text: string) => `def f(a):\n    """Do it.\n\n    ${text}\n    """\n    return a\n`
    await expectNoSlower((text) => python.read(docstring(text), (tree) => pythonDocs(tree, [])), { hostile, usual })
  })

  it('costs no more for slashes behind a definition', async () => {
    const read = (text: string) => script.read(`f()${text}`, (tree) => nodeAt(tree, `f()${text}`, { start: 0, end: 3 }))
    await expectNoSlower(read, { hostile: `${'//'.repeat(900)}\n.g()`, usual: `${'// a\n'.repeat(380)}.g()` })
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  throw new Error('nothing was refused')
}
