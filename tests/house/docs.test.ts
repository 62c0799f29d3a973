import { beforeAll, describe, expect, it } from 'vitest'
import { commandList } from '../../cli/command-list.ts'
import { operationStatuses } from '#domain/operation.ts'
import { externalSignatures } from '#tool-scripts/external-signatures.ts'
import { commandFault, createAskHelp, type AskHelp } from './ask-help.ts'
import { deadLinks, findCommands, listPages, readOperationStates, readPage, readSteps } from './read-markdown.ts'
import { manifest, readSources } from './source-files.ts'

const pages = listPages().map((path) => ({ path, text: readPage(path) }))
const architecture = readPage('ARCHITECTURE.md')

const sample = `
# Getting started
Run \`npm run check\`, then see [here](#getting-started), [there](./README.md#no-such) and [away](no/such.md).
\`\`\`sh
npx remora run examples/inventory --agents lint \\
  --out fix.patch | tee log   # npx is fine
npx remora queries check && npm run nothing
\`\`\`
`

/** A CLI with two commands, as commander prints them. */
const smallCli: AskHelp = (words) => {
  const helps: Record<string, string> = {
    '': 'Usage: remora [options]\n  --verbose  debug logs\nCommands:\n  run\n  queries',
    run: 'Usage: remora run [PATH]\n  --agents <names>  which\n  --out <file>  where',
    queries: 'Usage: remora queries\n\nCommands:\n  check',
    'queries check': 'Usage: remora queries check',
  }
  return Promise.resolve(helps[words.join(' ')])
}

describe('the reading of pages', () => {
  it('finds commands in fences and in spans, to their end', () => {
    expect(findCommands('a.md', sample, 'npx remora')).toEqual([
      { at: 'a.md:5', words: ['run', 'examples/inventory', '--agents', 'lint', '--out', 'fix.patch'] },
      { at: 'a.md:7', words: ['queries', 'check'] },
    ])
    expect(findCommands('a.md', sample, 'npm run').map(({ words }) => words[0])).toEqual(['check', 'nothing'])
  })

  it('knows a dead link and a missing heading', () => {
    expect(deadLinks('package.md', sample)).toHaveLength(2)
  })

  it.each([
    ['run --agents lint --verbose', undefined],
    ['queries check', undefined],
    ['fly', 'there is no command "remora fly"'],
    ['queries fly', 'there is no command "remora queries fly"'],
    ['run --agent lint', '"remora run" has no flag --agent'],
  ])('judges "remora %s"', async (command, fault) => {
    expect(await commandFault(command.split(' '), smallCli)).toBe(fault)
  })

  it('reads the table of steps and the states', () => {
    const table =
      '| 1 | `acceptRun` | [services/api/a.ts](services/api/a.ts) | x |\n| 2 | `a`, `b` | [a](domain/a.ts), [b](domain/b.ts) | planned |'
    expect(readSteps(table)).toEqual([
      { step: 1, functions: ['acceptRun'], places: ['services/api/a.ts'], planned: false },
      { step: 2, functions: ['a', 'b'], places: ['domain/a.ts', 'domain/b.ts'], planned: true },
    ])
    expect(readOperationStates('**Operation states:** `pending → ready`,\n`failed`\n\nNot `this`.')).toEqual([
      'pending',
      'ready',
      'failed',
    ])
  })
})

describe('the documentation', () => {
  beforeAll(async () => void (await Promise.all(commandList.map(({ load }) => load()))), 120_000)

  it('begins with two lines, each whole by itself on a fresh clone', () => {
    const [, first] = readPage('README.md').split('```')
    expect(first?.trim().split('\n')).toEqual([
      'npm ci && npx remora run examples/inventory --agents lint,docstring',
      'npm ci && npm test',
    ])
  })

  it('has README.md, ARCHITECTURE.md and CONTRIBUTING.md', () => {
    expect(pages.filter(({ text }) => text === '').map(({ path }) => path)).toEqual([])
  })

  it('names only npm scripts that exist', () => {
    const commands = pages.flatMap(({ path, text }) => findCommands(path, text, 'npm run'))
    const unknown = commands.filter(({ words: [script = ''] }) => !(script in manifest.scripts))
    expect(unknown.map(({ at, words }) => `${at} npm run ${words.join(' ')}`)).toEqual([])
  })

  it('names only commands and flags of remora that exist', async () => {
    const askHelp = createAskHelp()
    const faults: string[] = []
    for (const { at, words } of pages.flatMap(({ path, text }) => findCommands(path, text, 'npx remora'))) {
      const fault = await commandFault(words, askHelp)
      if (fault !== undefined) faults.push(`${at} ${fault}`)
    }
    expect(faults).toEqual([])
  })

  it('has a list of commands, in the help, that shows what each takes', async () => {
    const askHelp = createAskHelp()
    const listed = /^Commands:\n([^]*?)\n\n/m.exec((await askHelp([])) ?? '')?.[1] ?? ''
    const forms = listed.split('\n').map((line) => line.trim().split(/ {2,}/)[0]?.replace(' [options]', '') ?? '')
    const usages = forms.map(async (form) => {
      const help = await askHelp(form.split(' ').slice(0, 1))
      return /^Usage: remora (.*)$/m
        .exec(help ?? '')?.[1]
        ?.replace(' [options]', '')
        .replace(' [command]', '')
    })
    expect(forms.length).toBeGreaterThan(30)
    expect(await Promise.all(usages)).toEqual(forms)
  })

  it('links only to what exists', () => {
    expect(pages.flatMap(({ path, text }) => deadLinks(path, text))).toEqual([])
  })

  it('says in ARCHITECTURE.md where the functions of the steps are', () => {
    const exportsAt = new Map(readSources().map(({ path, exportedNames }) => [path, exportedNames]))
    const steps = readSteps(architecture)
    const faults = steps.flatMap(({ step, functions, places, planned }) => {
      const exported = places.flatMap((place) => exportsAt.get(place) ?? [])
      const wrong = functions.filter((name) => exported.includes(name) === planned)
      return wrong.map(
        (name) => `step ${step}: ${name} is ${planned ? 'there, not planned' : `in none of: ${places.join(', ')}`}`,
      )
    })
    expect.soft(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    expect(faults).toEqual([])
  })

  it('lists in ARCHITECTURE.md the states of an operation as the code has them', () => {
    expect([...new Set(readOperationStates(architecture))].toSorted()).toEqual(operationStatuses.toSorted())
  })

  it('lists in tool-scripts.md every external with its signature', () => {
    const rows = readPage('docs/guide/tool-scripts.md').matchAll(/^\| `(\w+\(.*?\) -> .+?)` \|/gm)
    const listed = Array.from(rows, ([, signature = '']) => signature.replaceAll('\\|', '|'))
    expect(listed).toEqual(Object.entries(externalSignatures).map(([name, signature]) => name + signature))
  })
})
