import { describe, expect, it } from 'vitest'
import { faultOfInsertion, faultOfSummary, foreignNumbers, startOf, withSummary } from './article-summary.ts'

const summary = 'This article says how stock is counted.'

describe('how an article begins', () => {
  it.each([
    ['# A\n\n## B\n\ntext\n', undefined, 'under the title'],
    ['# A\n\ntext of\ntwo lines\n\n## B\n', 'text of two lines', 'under the title'],
    ['A\n===\n\ntext\n', 'text', 'under the title'],
    ['# A\n\n- item\n', undefined, 'under the title'],
    ['---\ntitle: x\n---\n# A\n\ntext\n', undefined, 'front matter'],
    ['---\ndescription: y\n---\n# A\n', 'y', 'front matter'],
  ])('%j', (source, found, place) => {
    const start = startOf(source)
    expect(start).toMatchObject({ title: 'A', place })
    expect(start?.summary).toBe(found)
  })

  it('is nothing for a text without a title', () => {
    expect(startOf('text\n')).toBeUndefined()
    expect(startOf('## B\n')).toBeUndefined()
    expect(withSummary('text\n', summary)).toBeUndefined()
  })
})

describe('a summary', () => {
  it.each([
    ['# A\n\n## B\n', `# A\n\n${summary}\n\n## B\n`],
    ['# A\n## B\n', `# A\n\n${summary}\n\n## B\n`],
    ['A\r\n===\r\n\r\n- b\r\n', `A\r\n===\r\n\r\n${summary}\r\n\r\n- b\r\n`],
    ['---\ntitle: x\n---\n\n# A\n', `---\ntitle: x\ndescription: "${summary}"\n---\n\n# A\n`],
  ])('goes where it belongs, and nothing else changes: %j', (before, after) => {
    expect(withSummary(before, summary)).toBe(after)
    expect(faultOfInsertion(before, after)).toBeUndefined()
    expect(faultOfInsertion(before, after.replace('A', 'C'))).toBeDefined()
    expect(faultOfInsertion(before, `${after}\nmore\n`)).toBeDefined()
    expect(faultOfInsertion(after, after)).toBe('it had a summary')
  })

  it.each([
    ['short.', 'it must have 20 to 300 characters, and has 6'],
    [`${'long '.repeat(60)}.`, 'it must have 20 to 300 characters, and has 301'],
    ['It has two lines.\nThis is one.', 'it must be one line'],
    ['# It is a heading that says much.', 'it must be plain text, without Markdown'],
    ['It has [a link](a.md) and more.', 'it must be plain text, without Markdown'],
    ['It is about `code` and more.', 'it must be plain text, without Markdown'],
    ['It is about <b>tags</b> and more.', 'it must be plain text, without Markdown'],
    ['- It is an item of a list.', 'it must be plain text, without Markdown'],
    ['It says {{ site.secret }} and more.', 'it must be plain text, without marks of a template'],
    ['It does not come to its end', 'it must end with a full stop'],
  ])('is refused when it is none: %j', (text, reason) => {
    expect(faultOfSummary(text)).toBe(reason)
    expect(faultOfInsertion('# A\n\n## B\n', `# A\n\n${text}\n\n## B\n`)).toBeDefined()
  })

  it('has no numbers but those of the article', () => {
    expect(foreignNumbers('Three of 12 and 3.5 are 40.', 'There are 12 of 3.5 kg.')).toEqual(['40'])
  })
})
