import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentFolders, agentNames, unknownAgents } from './bundle-files.ts'

const shipped = ['docstring', 'harness', 'lint', 'review', 'sample_data', 'test']

describe('the folders of the agents', () => {
  it('are those that come with Remora, and those of a folder, which replace these where they have the same name', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'remora-agents-'))
    for (const name of ['lint', 'a-b', 'notes']) await mkdir(join(dir, name))
    await writeFile(join(dir, 'README.md'), 'bundles')
    for (const name of ['lint', 'a-b']) await writeFile(join(dir, name, 'bundle.yaml'), `name: ${name}\n`)
    const folders = await agentFolders(dir)
    expect([...folders.keys()]).toEqual(['a-b', ...shipped])
    expect([...folders.values()].filter((folder) => folder.startsWith(dir)).map((path) => basename(path))).toEqual([
      'a-b',
      'lint',
    ])
    await rm(dir, { recursive: true })
  })

  it('are those of Remora alone where no folder is named', async () => {
    expect(await agentNames(undefined)).toEqual(shipped)
  })

  it('cannot be known when the folder is missing', async () => {
    await expect(agentNames(join(tmpdir(), 'remora-no-such-folder'))).rejects.toMatchObject({ code: 'CONFIG_001' })
  })
})

describe('agents that nobody knows', () => {
  it.each([
    [['lint', 'test'], undefined],
    [['docstrings', 'lint'], 'unknown agent: docstrings (did you mean docstring?); known: docstring, lint, test'],
    [['typos', 'lnt', 'typos'], 'unknown agent: typos, lnt (did you mean lint?); known: docstring, lint, test'],
    [['typos'], 'unknown agent: typos; known: docstring, lint, test'],
  ])('of %j are named, with what was probably meant', (agents, said) => {
    expect(unknownAgents(agents, ['docstring', 'lint', 'test'])).toBe(said)
  })
})
