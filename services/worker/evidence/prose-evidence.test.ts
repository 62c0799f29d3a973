import { afterAll, describe, expect, it } from 'vitest'
import type { TextCheck } from '#domain/change-set.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { openLinter } from '#lint/linter.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openEvidenceChecker } from './evidence-checker.ts'
import { openSyntaxChecker } from './syntax-evidence.ts'

const linter = await openLinter()
const syntax = openSyntaxChecker()
afterAll(() => Promise.all([linter.close(), syntax.close()]))
const checker = openEvidenceChecker({ linter, python: await loadLanguage('python'), syntax })

const before = `---
title: Guide
---
# Guide

In order to start, call \`run\` with 3 files. See [settings](set.md), [gone](gone.md) and ![it](a.png).

#### Parts

<p>text</p>

| a | b |
|---|---|
| 1 | 2 |

\`\`\`
{"a": 1}
\`\`\`

\`\`\`sh
ls
\`\`\`
`

async function check(after: string, checks: readonly TextCheck[] = ['prose_kept'], path = 'guide.md') {
  const file = { path, before, after, rules: defaultPathRules }
  return checker.check({ ...file, readFile: async (asked) => (asked === 'set.md' ? '# Set\n' : undefined) }, checks)
}

describe('proof that only the wording of an article has changed', () => {
  it.each([
    ['another wording', 'In order to start', 'To start'],
    ['a broken link that was mended', '[gone](gone.md)', '[gone](set.md)'],
    ['a level that was skipped', '#### Parts', '## Parts'],
    ['a language that was missing', '```\n{', '```json\n{'],
  ])('is given for %s', async (_, was, is) => {
    expect(await check(before.replace(was, is), ['parses', 'prose_kept'])).toMatchObject([
      { ok: true },
      { ok: true, tool: 'markdown-it' },
    ])
  })

  it.each([
    ['code that changed', 'ls\n', 'rm\n', 'the code block "ls" is now "rm"'],
    ['inline code that changed', '`run`', '`walk`', 'the code "run" is now "walk"'],
    ['inline code that lost its marks', '`run`', 'run', 'the code "run" is gone'],
    ['a number that changed', '3 files', '4 files', 'the number "3" is now "4"'],
    ['a number that was made up', 'To start', 'Within 2 minutes', ''],
    ['a link that led somewhere', 'set.md', 'gone.md', 'the link to "set.md" led somewhere'],
    ['a link mended to nowhere', 'gone.md', 'lost.md', 'the new link to "lost.md" leads nowhere'],
    ['a link that is gone', '[settings](set.md)', 'settings', 'there were 3 links, and are 2'],
    ['a picture that changed', 'a.png', 'b.png', 'the link to "a.png" led somewhere'],
    ['a heading that was renamed', '# Guide', '# Manual', 'the heading "Guide" is now "Manual"'],
    ['a heading that was lowered', '# Guide', '## Guide', 'the level of the heading "Guide" has changed'],
    ['a cell that changed', '| 1 |', '| 7 |', 'the table cell "1" is now "7"'],
    ['a template that was made up', 'In order', 'By {{ site.key }}, in order', 'what a site fills in "{{" is new'],
    ['HTML that changed', '<p>', '<p id="x">', 'the HTML'],
    ['a language that changed', '```sh', '```bash', 'the language of the code block in line 20 has changed'],
    ['front matter that changed', 'title: Guide', 'title: X', 'the front matter has changed'],
  ])('is refused for %s, which gets through without it', async (_, was, is, says) => {
    const after = before
      .replace(was, is)
      .replace('In order to start', is.startsWith('Within') ? 'Within 2 minutes' : 'In order to start')
    expect((await check(after, ['parses', 'comments_kept'])).every(({ ok }) => ok)).toBe(true)
    expect(await check(after)).toMatchObject([
      { check: 'prose_kept', ok: false, detail: expect.stringContaining(says) },
    ])
  })

  it('is missing for other files, and refused for new and very long ones', async () => {
    expect(await check('x', ['prose_kept', 'summary_only'], 'a.txt')).toMatchObject([
      { check: 'not_checked' },
      { check: 'not_checked' },
    ])
    expect(await check(`${before}${'a '.repeat(150_000)}`)).toMatchObject([
      { ok: false, detail: 'the file is larger than 100000 characters' },
    ])
    const fresh = { path: 'a.md', before: undefined, after: '# A\n', rules: defaultPathRules }
    expect(await checker.check(fresh, ['prose_kept'])).toMatchObject([{ ok: false, detail: 'the file is new' }])
  })
})

describe('proof that an article got a summary alone', () => {
  const described = before.replace(
    'title: Guide\n',
    'title: Guide\ndescription: "It says how to start with the files."\n',
  )
  it('is given for that, and for nothing else', async () => {
    expect(await check(described, ['summary_only'])).toMatchObject([{ ok: true }])
    const more = described.replace('In order to start', 'To start')
    expect(await check(more, ['parses', 'summary_only'])).toMatchObject([
      { ok: true },
      { ok: false, detail: 'more than the summary has changed' },
    ])
  })
})
