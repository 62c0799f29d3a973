import { describe, expect, it } from 'vitest'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { surveyArticles } from './survey-articles.ts'

const guide = `# Güide

## One

See [gone](gone.md).

### Inner

All is well.

## Two

The the end.
`
const links = Array.from({ length: 1_000 }, (_, at) => `[a](guide.md#L${at})\n`).join('')
const files: Record<string, string> = {
  'docs/many.md': `# Many\n\n${links}\n## More\n\n[gone](gone.md)\n`,
  'docs/guide.md': guide,
  'docs/long.md': 'a '.repeat(150_000),
  'README.md': guide,
  'docs/plain.md': '# Plain\n\nIt begins with text.\n',
  'tests/data/case.md': guide,
}

const survey = await surveyArticles(
  {
    files: Object.entries(files).map(([path, text]) => ({ path, hash: path, size: text.length })),
    paths: new Set(Object.keys(files)),
    read: async (hash) => Buffer.from(files[hash] ?? ''),
  },
  AbortSignal.timeout(10_000),
)

/** From `from` up to `to`, or to the end of the file. */
function node(path: string, from: string, to?: string) {
  const text = files[path] ?? ''
  const byteOf = (at: number) => Buffer.byteLength(text.slice(0, at))
  const end = to === undefined ? text.length : text.indexOf(to)
  return { ...aPlannedOperation('a').node, path, startByte: byteOf(text.indexOf(from)), endByte: byteOf(end) }
}

describe('the survey of articles', () => {
  it('finds the sections in whose own lines something is wrong', () => {
    expect(survey.reasonNotToMend(node('docs/guide.md', '## One', '## Two'))).toBeUndefined()
    expect(survey.reasonNotToMend(node('docs/guide.md', '## Two'))).toBeUndefined()
    const none = 'has no fault that shows'
    expect(survey.reasonNotToMend(node('docs/guide.md', '### Inner', '## Two'))).toBe(none)
    expect(survey.reasonNotToMend(node('docs/guide.md', '# Güide'))).toBe(none)
    expect(survey.reasonNotToMend(node('docs/long.md', 'a'))).toBe('is in a file that is too long to be read')
    expect(survey.reasonNotToMend(node('docs/many.md', '# Many', '## More'))).toBe(none)
    const more = `${none}, but more links than are judged in a file`
    expect(survey.reasonNotToMend(node('docs/many.md', '## More'))).toBe(more)
  })

  it.each([
    ['docs/guide.md', 5, undefined],
    ['docs/guide.md', 300, 'has fewer than 300 words'],
    ['README.md', 5, 'is no article by its name'],
    ['docs/plain.md', 1, 'begins with a summary, or with a paragraph'],
    ['tests/data/case.md', 5, 'is test data'],
    ['docs/long.md', 5, 'is in a file that is too long to be read'],
  ])('says whether %s gets a summary from %i words on', (path, words, reason) => {
    expect(survey.reasonForNoSummary(node(path, ''), words)).toBe(reason)
  })
})
