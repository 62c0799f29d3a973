import { describe, expect, it } from 'vitest'
import { Publication } from '#domain/publication.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import { aNewRun, aRequest } from '#testing/open-test-ledger.ts'
import { checkText, type ToldRun } from './check-text.ts'

const source: RepositorySource = {
  host: 'github',
  installationId: 1,
  repository: { id: 1, owner: 'acme', name: 'shop' },
  ref: 'refs/heads/topic',
  branch: 'topic',
  isFork: false,
}
const verify = { command: 'make test', runs: 2, maxRuns: 200, limitS: 60 }
const { runId } = aNewRun()
const read = { operationsRead: 3, operations: 3, filesProved: 0, files: 0 }

type Counts = ToldRun['run']['counts']
const idle = { pending: 0, ready: 0, dispatched: 0, running: 0, waiting: 0, succeeded: 0, unchanged: 0 }
const noCounts: Counts = { ...idle, failed: 0, blocked: 0, skipped: 0, cancelled: 0 }

type Told = Partial<Omit<ToldRun, 'run' | 'publication'>> & {
  run?: Partial<ToldRun['run']>
  of?: Partial<RepositorySource>
  publication?: Partial<Publication>
}

function told({ run, of, publication, ...more }: Told = {}) {
  const request = aRequest({ repository: { ...source, ...of }, verify })
  const usual = {
    away: [],
    composing: null,
    conductor: null,
    counts: noCounts,
    errorCode: null,
    reason: null,
    stop: null,
    request,
    runId,
  }
  return checkText({
    run: { ...usual, status: 'completed', phase: 'review', ...run },
    publication: Publication.parse({ ...publication }),
    funnel: [],
    merged: new Map(),
    gate: undefined,
    files: [],
    filesUrl: undefined,
    leftOut: [],
    findings: 0,
    held: undefined,
    runUrl: undefined,
    isRehearsal: false,
    isPublishable: true,
    ...more,
  })
}

const ofEarlier = {
  agent: null,
  branch: 'remora/main',
  number: 3,
  url: '',
  head: 'a'.repeat(40),
  base: 'b'.repeat(40),
  state: 'open' as const,
  isDraft: false,
  changeSetIds: [],
  carried: [{ runId, changeSetIds: ['c1'] }],
}
const none = { generated: 3, valid: 3, verified: 3, accepted: 0, acceptedUnverified: 0, rejected: 0 }
const allAccepted = [{ agent: 'lint', ...none, accepted: 3 }]
const noneAccepted = [{ agent: 'lint', ...none }]
const labelsOf = ({ buttons }: ReturnType<typeof told>) => buttons.map(({ label }) => label)

describe('the check run of a run that goes on', () => {
  const running = { status: 'running' } as const
  const open = { kind: 'open' as const, version: 1, messages: 0, waits: null, planning: [] }
  const titles: [string, Partial<ToldRun['run']>][] = [
    ['Waiting to begin', { status: 'queued', phase: 'snapshot' }],
    ['Reading the code', { ...running, phase: 'snapshot' }],
    ['Finding the definitions', { ...running, phase: 'discovery' }],
    ['Planning what to do', { ...running, phase: 'planning' }],
    [
      '2 of 5 operations done',
      { ...running, phase: 'execution', counts: { ...noCounts, succeeded: 2, running: 2, waiting: 1 } },
    ],
    ['Planning what to do', { ...running, phase: 'execution', conductor: open }],
    [
      'The plan waits for its approval',
      { ...running, phase: 'execution', conductor: { ...open, waits: { kind: 'approval', since: 1 } } },
    ],
    ['Putting the changes together', running],
    ['Putting the changes together', { ...running, composing: read }],
    ['Proving the changes: 1 of 4 files', { ...running, composing: { ...read, filesProved: 1, files: 4 } }],
    [
      'Running the tests: 3 runs done, of 200 at most',
      { ...running, composing: { ...read, files: 4, gateRuns: 3, gateMost: 200 } },
    ],
    ['Stopping', { ...running, stop: { kind: 'request', reason: 'no', by: 'cli/ada', letsFinish: true } }],
  ]
  it.each(titles)('says %j', (title, run) => {
    expect(told({ run })).toMatchObject({ title, state: run.status === 'queued' ? 'queued' : 'running', buttons: [] })
  })

  it('says what the tests are, and that a model is away', () => {
    const composing = { ...read, gateRuns: 0, gateMost: 200 }
    expect(told({ run: { ...running, composing } }).summary).toContain('`make test` runs without the changes')
    const away = [{ model: 'small', since: 0, bundles: ['lint'] }]
    expect(told({ run: { ...running, phase: 'execution', away } }).summary).toContain('No server of the model `small`')
  })

  it('says of the rehearsal model nothing that has not happened yet', () => {
    const { summary } = told({ run: running, isRehearsal: true, isPublishable: false })
    expect(summary).toContain('This run is of the rehearsal model (no LLM)')
    expect(summary).toContain('only shows how it works, and is not published.')
    expect(summary).not.toContain('has made')
  })
})

describe('the check run of a run that has ended', () => {
  it.each([
    ['success', 'Nothing to change', {}],
    [
      'neutral',
      '2 operations did not end well',
      { run: { counts: { ...noCounts, failed: 1, blocked: 1, succeeded: 2 } } },
    ],
    ['neutral', '3 changes ready', { funnel: allAccepted }],
    ['neutral', '3 changes dismissed', { funnel: allAccepted, publication: { isDismissed: true } }],
  ] satisfies [string, string, Told][])('is %s: %s', (state, title, more) => {
    expect(told(more)).toMatchObject({ state, title })
  })

  it('says how to do again what did not end well', () => {
    expect(told({ run: { counts: { ...noCounts, failed: 1 } } }).summary).toContain(
      `1 operation did not end well: \`remora retry`,
    )
  })

  it('has buttons that do something, and none of them twice', () => {
    expect(labelsOf(told({ funnel: noneAccepted }))).toEqual(['Accept all', 'Dismiss'])
    expect(labelsOf(told({ funnel: allAccepted }))).toEqual(['Open pull request', 'Dismiss'])
    expect(labelsOf(told({ funnel: allAccepted, publication: { isDismissed: true } }))).toEqual([])
    expect(labelsOf(told())).toEqual([])
  })

  const pull = {
    number: 4,
    url: '',
    agent: null,
    branch: 'remora/main',
    head: 'a'.repeat(40),
    base: 'b'.repeat(40),
    isDraft: false,
    carried: [],
  }

  it('says that people have closed its pull request, and offers no other one with the same', () => {
    const publication = Publication.parse({ pulls: [{ ...pull, state: 'closed', changeSetIds: ['c1', 'c2', 'c3'] }] })
    const shown = told({ funnel: allAccepted, publication })
    expect(shown.title).toBe('#4 closed')
    expect(labelsOf(shown)).toEqual([])
  })

  it('names its files and its pull request, with links to both', () => {
    const publication = Publication.parse({
      pulls: [{ ...pull, url: 'https://host/acme/shop/pull/4', state: 'open', changeSetIds: ['c1'] }],
    })
    const files = [
      { path: 'lib/[a] (b).py', isNew: false },
      { path: 'new.py', isNew: true },
    ]
    const { summary } = told({ funnel: allAccepted, publication, files, filesUrl: 'https://host/acme/shop/blob/1234' })
    expect(summary).toContain('- [#4](https://host/acme/shop/pull/4) (open): 1 change of this run')
    expect(summary).toContain('<details><summary>Changes of 2 files</summary>')
    expect(summary).toContain(
      '- [`lib/[a] (b).py`](https://host/acme/shop/blob/1234/lib/%5Ba%5D%20%28b%29.py)\n- `new.py` (new)',
    )
  })

  it('names what was left out of the patch, and why', () => {
    const conflict = {
      changeSetId: 'c1',
      operationId: 'o1',
      agent: 'lint',
      path: 'a.py',
      errorCode: 'WORK_007',
    } as const
    const all = Array.from({ length: 7 }, (_, at) => ({ ...conflict, reason: `test_${at} fails` }))
    const { summary } = told({ funnel: allAccepted, leftOut: all })
    expect(summary).toContain('7 changes left out:\n\n- `lint` in `a.py`: test\\_0 fails (`WORK_007`)\n')
    expect(summary).toContain('- and 2 more')
  })

  it.each<[string, Told]>([
    ['of a pull request that has changes of earlier runs alone', { publication: { pulls: [ofEarlier] } }],
    ['of what waits for people', { publication: { fault: { errorCode: 'PUBLISH_002', reason: 'theirs', at: 1 } } }],
    ['of a repository without code', { run: { status: 'failed', errorCode: 'INTAKE_007', reason: 'found: Markdown' } }],
  ])('is neither a success nor a failure %s', (_, given) => {
    expect(told(given).state).toBe('neutral')
  })

  it('says where the agent is named that nobody knows', () => {
    const reason = 'unknown agent: docstrings (did you mean docstring?); known: docstring, lint'
    const { title, summary } = told({ run: { status: 'failed', errorCode: 'INTAKE_006', reason } })
    expect(title).toContain('INTAKE_006 unknown agent: docstrings (did you mean docstring?)')
    expect(summary).toContain('`github.agents` in `remora.yaml` names the agents.')
  })

  it('does not name an open pull request that has nothing of it any more', () => {
    const publication = Publication.parse({ pulls: [{ ...pull, state: 'open', changeSetIds: [] }] })
    expect(told({ funnel: allAccepted, publication }).title).toBe('3 changes ready')
  })

  it("says at a person's pull request what its buttons do there, and has none to dismiss what is not published", () => {
    const of = { pullRequest: 7 }
    const shown = told({ of, funnel: [{ agent: 'lint', ...none, accepted: 1 }] })
    expect(labelsOf(shown)).toEqual(['Accept all', 'Open pull request'])
    expect(shown.summary).toContain('"Accept all" or "Open pull request" opens a pull request to `topic`')
    expect(shown.buttons.every(({ description }) => description.length <= 40)).toBe(true)
    expect(labelsOf(told({ of, funnel: allAccepted, publication: { isAsked: true } }))).toContain('Dismiss')
    expect(told({ of }).summary).not.toContain("person's pull request")
    expect(told({ funnel: allAccepted }).summary).not.toContain("person's pull request")
  })

  it('of what is never published has no buttons, and speaks of none', () => {
    const shown = told({ funnel: noneAccepted, isPublishable: false, of: { pullRequest: 7 } })
    expect(shown.buttons).toEqual([])
    expect(shown.summary).not.toMatch(/"Accept all"|opens a pull request/)
  })
})
