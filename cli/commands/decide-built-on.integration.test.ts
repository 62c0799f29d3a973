import { beforeAll, describe, expect, it } from 'vitest'
import type { FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import { plannedOperation, type PlayedEnding, playRun } from '../../services/api/played-run.fixture.ts'
import { openApiClient } from '../api-client.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const { remora } = served
let baseHash: string
beforeAll(async () => {
  baseHash = await served.api.blobs.put(served.api.project, Buffer.from('a = 1\nb = 2\n'))
})

const changes = (start: number, end: number, text: string): FileChange[] => [
  { kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end, text }] },
]
const fix = () => ({ name: 'fix', changes: changes(4, 5, '10') })
const doc = () => ({ name: 'doc', changes: changes(0, 5, '# a\na = 10'), builtOn: ['fix'] })
/** All that is built on something here is built on `fix`. */
const idOf = ({ name, changes: files, builtOn }: Extract<PlayedEnding, { changes: unknown }>): string =>
  changeSetId(
    plannedOperation(name).operationId,
    files,
    builtOn?.map(() => idOf(fix())),
  )
const played = () => playRun(served.api, [fix(), doc()])

describe('change sets that are built on others, on the command line', () => {
  it('say so', async () => {
    const runId = await played()
    expect((await remora('diff', runId, 'a.py', 'doc')).err).toContain(`  built on lint a.py fix ${idOf(fix())}\n`)
    const ofFix = (await remora('diff', runId, 'a.py', 'fix')).err
    expect(ofFix).toContain(`  others are built on it: lint a.py doc ${idOf(doc())}\n`)
    expect(ofFix).not.toContain('  built on')
  })

  it('leave accepted what was accepted with them when they are undone, and say so', async () => {
    const runId = await played()
    await remora('accept', runId, 'a.py', 'doc')
    expect(await remora('undo', runId, 'a.py', 'doc')).toMatchObject({
      code: 0,
      out:
        'pending         lint  a.py doc  +2 -1  (was accepted)\n' +
        `still accepted  lint  a.py fix  +1 -1  accepted with another: remora undo ${runId} ${idOf(fix())}\n`,
    })
    expect((await remora('undo', runId, idOf(fix()))).out).toBe('pending  lint  a.py fix  +1 -1  (was accepted)\n')
    await remora('accept', runId, 'a.py', 'fix')
    await remora('accept', runId, 'a.py', 'doc')
    expect((await remora('reject', runId, 'a.py', 'doc')).out).not.toContain('still accepted')
  })

  it('are accepted with what they are built on, and rejected with it', async () => {
    const runId = await played()
    expect(await remora('accept', runId, 'a.py', 'doc')).toEqual({
      code: 0,
      out: 'accepted      lint  a.py doc  +2 -1\naccepted too  lint  a.py fix  +1 -1  needed by lint a.py doc\n',
      err: '',
    })
    expect(await remora('reject', runId, 'a.py', 'fix')).toEqual({
      code: 1,
      out: '',
      err:
        `refused: WORK_001  lint a.py fix ${idOf(fix())} cannot be rejected: built on it is lint a.py doc ${idOf(doc())}\n` +
        `  With them: remora reject ${runId} ${idOf(fix())} --with-dependents\n`,
    })
    expect((await remora('reject', runId, 'a.py', 'fix', '--with-dependents')).out).toBe(
      'rejected      lint  a.py fix  +1 -1  (was accepted)\n' +
        'rejected too  lint  a.py doc  +2 -1  built on lint a.py fix (was accepted)\n',
    )
    expect(await remora('accept', runId, 'a.py', 'doc')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `  To have them all: remora accept ${runId} ${idOf(fix())} ${idOf(doc())}\n` +
          `  To do without it: remora reject ${runId} ${idOf(doc())}\n`,
      ),
    })
    expect((await remora('accept', runId, idOf(fix()), idOf(doc()))).code).toBe(0)
    expect((await remora('undo', runId, '--all', '--also-decided')).code).toBe(0)
  })
})

describe('more change sets than one request takes', () => {
  it('are rejected, also where those that are built on one come in a later request', async () => {
    const runId = await played()
    const unknown = Array.from({ length: 999 }, (_none, at) => `c${at}`)
    const sets = [idOf(fix()), ...unknown, idOf(doc())]
    const client = openApiClient({
      url: served.env().REMORA_API_URL,
      token: served.api.token,
      signal: new AbortController().signal,
    })
    const decided = await client.decide(runId, { verdict: 'reject', sets })
    expect(decided).toMatchObject({
      made: 2,
      refused_count: 999,
      by_agent: { lint: { made: 2, before: 0, refused: 0 } },
    })
    expect(decided.decisions.map((one) => one.qualified_name)).toEqual(['doc', 'fix'])
    expect(new Set(decided.refused.map((one) => one.error_code))).toEqual(new Set(['RUN_004']))
  })
})
