import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { openTargetNode } from '../target-node.ts'
import { articleExternals } from './article-externals.ts'

const guide = '# Guide\r\n\r\nThe the [one](two.md), [gone](gone.md).\r\n\r\n## Two\r\n\r\nIs is.\r\n'

async function opened(source = guide, path = 'docs/guide.md') {
  const tree: Record<string, string> = { [path]: source, 'docs/b/two.md': '' }
  const workspace = openWorkspace({
    find: (asked) => (tree[asked] === undefined ? undefined : { hash: sha256(asked) }),
    kindAt: (asked) => (tree[asked] === undefined ? undefined : 'file'),
    list: (folder) => ({ '': ['docs/'], docs: ['guide.md', 'b/'], 'docs/b': ['two.md'] })[folder] ?? [],
    read: async (hash) => Buffer.from(Object.entries(tree).find(([one]) => sha256(one) === hash)?.[1] ?? ''),
  })
  const place = { path, startByte: 0, endByte: Buffer.byteLength(source), language: 'markdown' }
  const target = await openTargetNode({ ...aPlannedOperation('a').node, ...place }, workspace, {
    rules: defaultPathRules,
  })
  const { describe_section, mend_section, describe_article, insert_summary } = articleExternals(workspace, target)
  return {
    textNow: () => workspace.readText(path),
    section: () => describe_section(),
    mend: () => mend_section(),
    article: () => describe_article(),
    insert: async (...args: unknown[]) => insert_summary(args),
  }
}

describe('describe_section and mend_section', () => {
  it('tell and mend the faults in the lines of the section itself', async () => {
    const { section, mend, textNow } = await opened()
    const before = await section()
    expect(before).toMatchObject({ path: 'docs/guide.md', first_line: 1, last_line: 4 })
    expect(before.faults.map(({ kind, line, can_be_mended: mends }) => `${kind} ${line} ${mends}`)).toEqual([
      'broken_link 3 true',
      'broken_link 3 false',
      'doubled_word 3 true',
    ])
    expect(await mend()).toMatchObject({
      mended: 2,
      faults: [{ kind: 'broken_link', message: expect.stringContaining('gone.md') }],
    })
    expect(await textNow()).toBe(guide.replace('The the [one](two.md)', 'The [one](b/two.md)'))
    expect(await mend()).toMatchObject({ mended: 0 })
  })

  it.each([
    ['docs/guide.txt', guide, 'docs/guide.txt is no Markdown'],
    ['docs/guide.md', 'a '.repeat(150_000), 'docs/guide.md is larger than 100000 characters'],
  ])('refuse another file, and a very long one: %s', async (path, source, reason) => {
    await expect((await opened(source, path)).section()).rejects.toThrow(reason)
  })
})

describe('describe_article and insert_summary', () => {
  const summary = 'It says what is in the guide.'

  it('tell how the article begins, and write what it lacks', async () => {
    const source = guide.replace('The the', '- The')
    const { article, insert, textNow } = await opened(source)
    expect(await article()).toMatchObject({
      title: 'Guide',
      headings: ['Two'],
      summary: null,
      place: 'under the title',
    })
    expect(await insert(summary, true)).toEqual({ path: 'docs/guide.md', written: false })
    expect(await textNow()).toBe(source)
    await expect(insert('It says 12 things of the guide.', true)).rejects.toThrow(
      'the article does not have the numbers 12',
    )
    await expect(insert('short', true)).rejects.toThrow('it must have 20 to 300 characters')
    await expect(insert(7)).rejects.toThrow('summary must be a string')
    expect(await insert(` ${summary}\n`)).toEqual({ path: 'docs/guide.md', written: true })
    expect(await textNow()).toBe(source.replace('# Guide\r\n', `# Guide\r\n\r\n${summary}\r\n`))
    await expect(insert(summary)).rejects.toThrow('docs/guide.md has a summary, which stays as it is')
  })

  it('refuse a text without a title', async () => {
    const { article, insert } = await opened('text\n')
    await expect(article()).rejects.toThrow('docs/guide.md has no title')
    await expect(insert(summary)).rejects.toThrow('docs/guide.md has no title')
  })
})
