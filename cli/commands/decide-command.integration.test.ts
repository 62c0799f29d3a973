import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { changeSetIdsOf } from '#domain/operation.ts'
import { plannedOperation, type PlayedEnding, playOperations, playRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'
import { anEvent } from '#testing/an-event.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const { remora } = served
let baseHash: string
beforeAll(async () => {
  baseHash = await served.api.blobs.put(served.api.project, Buffer.from('a = 1\nb = 2\nc = 3\n'))
})

function changing(name: string, start: number, end: number, text: string): PlayedEnding {
  return { name, changes: [{ kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end, text }] }] }
}

/** `one` and `two` change the first line. */
const played = () =>
  playRun(served.api, [
    changing('one', 0, 5, 'a = 10'),
    changing('two', 4, 5, '20'),
    changing('three', 12, 17, 'c = 30'),
    { name: 'four', leaves: 'nothing to do' },
  ])

const idOf = (name: string) => plannedOperation(name).operationId

const Changes = z.looseObject({ changes: z.array(z.looseObject({ change_set_id: z.string(), generation: z.int() })) })

async function setOf(runId: string, name: string, generation = 1): Promise<string> {
  const { changes } = Changes.parse(JSON.parse((await remora('diff', runId, idOf(name), '--json')).out))
  const found = changes.find((change) => change.generation === generation)
  if (found === undefined) throw new Error(`${runId} changed nothing of ${name}`)
  return found.change_set_id
}

describe('remora accept, reject and undo', () => {
  it('decide on what an operation changed, and say what was so before', async () => {
    const runId = await played()
    expect(await remora('accept', runId, 'lint', 'a.py', 'three')).toEqual({
      code: 0,
      out: 'accepted  lint  a.py three  +1 -1\n',
      err: '',
    })
    expect((await remora('accept', runId, idOf('three'))).out).toBe('already accepted  lint  a.py three  +1 -1\n')
    const rejected = await remora('reject', runId, await setOf(runId, 'three'), '--because', 'too much')
    expect(rejected.out).toBe('rejected  lint  a.py three  +1 -1  (was accepted)\n')
    const shown = await remora('diff', runId, idOf('three'))
    expect(shown.err).toMatch(
      /^ {2}change set c[0-9a-f]{16}: rejected, by human\/\S+ 20[-0-9]+ [0-9:]+ UTC: too much$/m,
    )
    expect((await remora('undo', runId, 'a.py', 'three')).out).toBe(
      'pending  lint  a.py three  +1 -1  (was rejected)\n',
    )
    expect((await remora('diff', runId, idOf('three'))).err).toContain(': pending again, by human/')
    expect((await remora('diff', runId, idOf('one'))).err).toMatch(/change set c[0-9a-f]{16}: pending$/m)
  })

  it('decide on all in a file, and show what is refused with both texts and the way on', async () => {
    const runId = await played()
    const answer = await remora('accept', runId, 'a.py')
    expect(answer).toMatchObject({
      code: 3,
      out: 'accepted  lint  a.py one    +1 -1\naccepted  lint  a.py three  +1 -1\n',
    })
    const [first, second] = [await setOf(runId, 'one'), await setOf(runId, 'two')]
    expect(answer.err).toBe(
      [
        `refused: WORK_001  lint ${idOf('two')} a.py two (line 1) collides with lint ${idOf('one')} a.py one (line 1)`,
        '  lint a.py two would make of it:',
        '  | a = 20',
        '  lint a.py one, which is accepted, makes of it:',
        '  | a = 10',
        `  To have it instead: remora undo ${runId} ${first}`,
        `                      remora accept ${runId} ${second}`,
        '',
      ].join('\n'),
    )
    expect(await remora('accept', runId, 'a.py', 'two')).toEqual({ code: 1, out: '', err: answer.err })
    expect((await remora('undo', runId, first)).code).toBe(0)
    expect((await remora('accept', runId, second)).out).toBe('accepted  lint  a.py two  +1 -1\n')
  })

  it('decide on all that meets conditions, or on all', async () => {
    const runId = await played()
    const where = ['--where', 'agent=lint', 'path=*.py', 'evidence=passed', 'verdict=pending']
    expect((await remora('reject', runId, ...where, '--because', 'no')).out.split('\n')).toHaveLength(4)
    const none = { code: 0, out: '', err: `run ${runId} has no such change set\n` }
    expect(await remora('accept', runId, ...where)).toEqual(none)
    expect(await remora('accept', runId, '--where', 'path=other/')).toEqual(none)
    const kept = '3 change sets left alone, since a person has decided before: --also-decided decides anew\n'
    expect(await remora('accept', runId, '--all')).toEqual({ code: 0, out: '', err: kept })
    const { code, out } = await remora('accept', runId, '--all', '--also-decided', '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      run_id: runId,
      made: 2,
      by_agent: { lint: { made: 2, before: 0, refused: 1 } },
      decisions: [
        { qualified_name: 'one', verdict: 'accepted', was: 'rejected' },
        { qualified_name: 'three', verdict: 'accepted', was: 'rejected' },
      ],
      refused: [{ error_code: 'WORK_001', conflict: { text: 'a = 20\n', with: { text: 'a = 10\n' } } }],
    })
    const again = await remora('accept', runId, idOf('two'), '--json')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.out)).toMatchObject({ made: 0, decisions: [], refused_count: 1 })
  })

  it('count many sets by agent, and send those that are named in slices', async () => {
    const file = (name: string) => ({ kind: 'create' as const, path: `${name}.py`, content: 'x = 1\n' })
    const names = Array.from({ length: 30 }, (_, at) => `f${at}`)
    const runId = await playRun(
      served.api,
      names.map((name) => ({ name, changes: [file(name)] })),
    )
    expect((await remora('accept', runId, idOf('f3'))).code).toBe(0)
    expect((await remora('accept', runId, '--all')).out).toBe(
      'accepted          lint  29 change sets\nalready accepted  lint  1 change set\n',
    )
    const unknown = Array.from({ length: 600 }, (_, at) => `c${String(at).padStart(16, '0')}`)
    const answer = await remora('undo', runId, idOf('f3'), ...unknown)
    expect(answer).toMatchObject({ code: 3, out: 'pending  lint  a.py f3  +1 -0  (was accepted)\n' })
    expect(answer.err).toContain(`refused: RUN_004  The run has no change set "${unknown[0]}`)
    expect(answer.err).toMatch(/… and 595 more refused\n$/)
  })

  it('say of what has no change set where to look, and decide nothing', async () => {
    const runId = await played()
    await expect(remora('accept', runId, 'a.py', 'four')).rejects.toMatchObject({
      code: 'RUN_004',
      message: `In run ${runId} there is no change set of "a.py four": "remora diff ${runId} a.py four" says why`,
    })
    await expect(remora('accept', runId, 'a.py', 'nobody')).rejects.toMatchObject({ code: 'RUN_004' })
    await expect(remora('accept', 'r0123456789', '--all')).rejects.toMatchObject({ code: 'RUN_001' })
    const unknown = await remora('accept', runId, 'c0123456789abcdef')
    expect(unknown).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('refused: RUN_004  The run has no'),
    })
  })
})

const complete = (runId: string) =>
  served.api.ledger.move(runId, {
    from: [{ status: 'running' }],
    to: { status: 'completed' },
    command: 'compose',
    events: [anEvent({ event: 'run.completed', phase: 'review', origin: { kind: 'discovery', id: 'test' } })],
  })

describe('remora reject --retry', () => {
  const reject = (runId: string, name: string, because: string) =>
    remora('reject', runId, 'lint', 'a.py', name, '--because', because, '--retry')

  it('says when it is tried again, and when nothing is', async () => {
    const runId = await playRun(served.api, [changing('one', 0, 5, 'a = 10'), changing('three', 12, 17, 'c = 30')])
    const early = await reject(runId, 'one', 'too much')
    expect(early.out.split('\n')).toEqual([
      'rejected  lint  a.py one  +1 -1',
      `1 operation to be tried again when run ${runId} has ended`,
      '',
    ])
    await complete(runId)
    expect((await remora('show', runId)).out).toMatch(/^to retry +1 rejected operation, in a moment$/m)
    const now = await reject(runId, 'three', 'too little')
    const again = `2 operations tried again in run ${runId}: remora watch ${runId}\n`
    expect(now.out).toContain(again.replace('2 operations', '1 operation'))
    expect((await remora('show', runId)).out).toMatch(/^generation +2$/m)
    await playOperations(served.api, runId, [changing('one', 0, 5, 'a = 10'), changing('three', 12, 17, 'c = 3')])
    const later = await reject(runId, 'one', 'still too much')
    expect(later.out).toContain(`to be tried again when run ${runId} has ended`)
  })
})

describe('remora reject --retry of hundreds of sets', () => {
  it('brings one retry of all of them', { timeout: 60_000 }, async () => {
    const names = Array.from({ length: 501 }, (_none, at) => `f${at}`)
    const runId = await playRun(
      served.api,
      names.map((name) => changing(name, 0, 5, `a = ${name}`)),
    )
    await complete(runId)
    const operations = names.map((name) => plannedOperation(name).operationId)
    const sets = (await served.api.ledger.endedOperations(runId, operations)).flatMap(({ outcome }) =>
      changeSetIdsOf(outcome),
    )
    const rejected = await remora('reject', runId, ...sets, '--because', 'é'.repeat(2_000), '--retry')
    expect(rejected.out).toMatch(/^501 operations tried again in run \S+: /m)
    expect((await served.api.ledger.getRun(runId)).generation).toBe(2)
  })
})

describe('wrong usage', () => {
  it.each([
    [[], /^error: nothing chosen: name an operation, or give --where or --all\n/],
    [['a.py', '--all'], /^error: name an operation, or give --where or --all: only one of them\n/],
    [['--all', '--where', 'agent=lint'], /only one of them/],
    [['a.py', '--also-decided'], /^error: --also-decided belongs to --all or --where/],
    [
      ['--where', 'bundle=lint'],
      /It must be a condition KEY=VALUE, with one of the keys agent, path, evidence, verdict\./,
    ],
    [['--where', 'agent='], /It must be a condition KEY=VALUE/],
    [['--where', 'agent=lint', 'agent=docstring'], /It names agent a second time\./],
    [['--where', 'evidence=good'], /The value of evidence must be one of passed, failed, unchecked\./],
    [['--where', 'verdict=accept'], /The value of verdict must be one of pending, accepted, rejected\./],
    [['--where', `path=${'{'.repeat(50)}`], /argument 'path=\{+' is invalid/],
    [['--all', '--because', ''], /It must have 1 to 2000 characters\./],
    [['--all', '--because', ' \t\n'], /It has only blanks: write a word/],
    [['--all', '--because', 'fine', '--retry'], /unknown option '--retry'/],
  ])('is refused before anything is decided: %j', async (args, says) => {
    let err = ''
    const io = { out: () => {}, err: (text: string) => void (err += text), exit: () => {} }
    const config = readCliConfig({ REMORA_API_URL: 'http://127.0.0.1:1' })
    const context = { io, config, signal: new AbortController().signal, terminal: undefined, colored: false, cwd: '.' }
    const ended = buildProgram({ io, openContext: async () => context }).parseAsync(
      ['accept', 'r0123456789', ...args],
      { from: 'user' },
    )
    await expect(ended).rejects.toMatchObject({ name: expect.stringMatching(/^CommanderError|^InvalidArgumentError/) })
    expect(err).toMatch(says)
  })

  it('is an agent that the run does not have', async () => {
    const runId = await played()
    await expect(remora('accept', runId, '--where', 'agent=lnt')).rejects.toMatchObject({
      code: 'RUN_002',
      phase: 'usage',
      message: expect.stringMatching(/has no agent "lnt": it has .*lint/),
    })
  })
})
