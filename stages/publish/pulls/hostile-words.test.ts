import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { GateReport } from '#domain/gate.ts'
import { Publication } from '#domain/publication.ts'
import { RepoPath } from '#domain/repo-path.ts'
import { shownMarkdown } from '../shown-markdown.fixture.ts'
import { commitMessage } from '../commit-message.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { pullText } from '../pull-text.ts'
import { checkText } from './check-text.ts'

const words = [
  'Fixes #12',
  'closes #1',
  'resolves acme/shop#3',
  'Fixes GH-4',
  'fix https://github.com/acme/shop/issues/5',
  '@everyone',
  '@acme/team',
  'cc @ada',
  '<img src=x onerror=alert(1)>',
  '</details>',
  '<!-- remora:x -->',
  '[click](https://evil.example)',
  '![](https://evil.example/x.png)',
  '| --- | --- |\n| a |',
  '`',
  '```\n@ada\n```',
  '|',
  '\\|',
  '\r\n\r\n# Heading\r\n',
  '\r\nCo-authored-by: Ada <ada@example.org>',
  '\n\nRemora-Run: r0',
  '[skip ci]',
  '***NO_CI***',
  '\n\nskip-checks: true',
  '\u202Egnp.exe\u202C',
  '\u2067\u200F',
  '\uD800',
  'x'.repeat(10_000),
  'Shop.total',
]
const hostile = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((all) => all.join(' '))
const hostilePath = hostile.map(
  (text) => RepoPath.safeParse(`src/${text.slice(0, 200)}.py`).data ?? RepoPath.parse('a.py'),
)

const gateOf = (text: string, verdict: GateReport['verdict']): GateReport => ({
  command: text,
  verdict,
  reason: text,
  tests: null,
  failing: [],
  failingTotal: 0,
  outputs: [],
  runs: 2,
  durationMs: 1,
  leftOut: 0,
})
const asked = fc.record({ agent: hostile, description: hostile, path: hostilePath, name: hostile, said: hostile })
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

const none = { pending: 0, ready: 0, dispatched: 0, running: 0, waiting: 0, succeeded: 0, unchanged: 0 }
const counts = { ...none, failed: 0, blocked: 0, skipped: 0, cancelled: 0 }
const run = { ...aNewRun(), commit: null, counts }
const noProgress = { away: [], composing: null, conductor: null }
const planned = ({ agent, path }: Asked) => {
  const file = { path, executable: false, content: Buffer.from('x'), baseHash: null }
  return [{ agent, changeSetIds: ['c1'], files: [file], lines: { added: 1, removed: 0 } }]
}
const wordsOf = ({ agent, description, path, name, said }: Asked) => ({
  run,
  nodes: new Map([['c1', { path, qualifiedName: name }]]),
  sets: new Map([['c1', { rules: [said, name], model: said }]]),
  descriptions: new Map([[agent, description]]),
})

function bodyOf(one: Asked): string {
  return pullText({
    ...wordsOf(one),
    composition: { files: [], gate: gateOf(one.said, 'unproved') },
    commits: planned(one),
    target: one.name,
    carried: 0,
    left: 1,
    lost: 1,
    runUrl: undefined,
    isRehearsal: false,
    takesComments: true,
  }).body
}

function summaryOf({ agent, path, said }: Asked): string {
  const made = { generated: 1, valid: 1, verified: 1, accepted: 0, acceptedUnverified: 0, rejected: 0 }
  const fault = { errorCode: 'PUBLISH_001', reason: said, at: 0 }
  return checkText({
    run: { ...run, status: 'failed', reason: said, errorCode: 'X', phase: 'review', stop: null, ...noProgress },
    publication: Publication.parse({ fault }),
    funnel: [{ agent, ...made }],
    merged: new Map(),
    gate: gateOf(said, 'passed'),
    files: [{ path, isNew: false }],
    filesUrl: 'https://host/acme/shop/blob/1234',
    leftOut: [{ changeSetId: 'c1', operationId: 'o1', agent, path, errorCode: 'WORK_007', reason: said }],
    findings: 1,
    held: said,
    runUrl: undefined,
    isRehearsal: true,
    isPublishable: false,
  }).summary
}

/** What GitHub acts on, in the words that it shows; it looks for none in code. */
function effectsOf(markdown: string): string[] {
  const tokens = shownMarkdown(markdown)
  const shown = tokens.flatMap(({ type, content }) => (type === 'text' ? content : [])).join('\n')
  const references = shown.match(/@[\w-]|#\d|\bGH-\d|https?:\/\/|www\.\w/gi) ?? []
  const made = tokens.flatMap(({ type }) =>
    /^(?:link_open|image|html_inline|fence|code_block|heading_open)$/.test(type) ? type : [],
  )
  return [...references, ...made.filter((type) => type !== 'heading_open')]
}

describe('whatever agents, files, definitions and models say', () => {
  it.each([
    ['the body of a pull request', bodyOf],
    ['the summary of a check run', summaryOf],
  ])('%s notifies nobody, closes nothing, and is one table row for an agent', (_, textOf) => {
    const usual = { agent: 'lint', description: 'x', path: RepoPath.parse('a.py'), name: 'main', said: 'x' }
    const counted = (text: string) => {
      const tokens = shownMarkdown(text)
      const types = ['tr_open', 'td_open', 'heading_open', 'html_block', 'bullet_list_open']
      return types.map((type) => tokens.filter((token) => token.type === type).length)
    }
    const [effects, places] = [effectsOf(textOf(usual)), counted(textOf(usual))]
    fc.assert(
      fc.property(asked, (one) => {
        const text = textOf(one)
        expect(effectsOf(text)).toEqual(effects)
        expect(counted(text)).toEqual(places)
        expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200E\u200F\r]/)
        expect(text.length).toBeLessThan(12_000)
      }),
      { numRuns: draws(500) },
    )
  })

  it('a commit, and the title that a squash merge makes one of, neither close, mention, skip checks nor name an author', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const message = commitMessage(planned(one)[0] ?? { agent: '', changeSetIds: [], files: [] }, wordsOf(one))
        const { title } = pullText({
          ...wordsOf(one),
          composition: { files: [] },
          commits: planned(one),
          target: 'main',
          carried: 0,
          left: 0,
          lost: 0,
          runUrl: undefined,
          isRehearsal: false,
          takesComments: true,
        })
        for (const text of [message, title])
          expect(text).not.toMatch(/@|#|GH-\d|:\/\/|\[|\*\*\*|[\u202A-\u202E\u2066-\u2069\r]/)
        expect(title.length).toBeLessThanOrEqual(72)
        expect(title).not.toContain('\n')
        const lines = message.trimEnd().split('\n')
        expect(lines.slice(0, -2).filter((line) => /^[\w-]+:/.test(line))).toEqual([])
        expect(lines.at(-2)).toBe(`Remora-Run: ${run.runId}`)
        expect(lines.at(-1)).toMatch(/^Remora-Agent:/)
        expect(message.length).toBeLessThan(12_000)
      }),
      { numRuns: draws(500) },
    )
  })
})
