import { changeSetId } from '#domain/ids.ts'
import { beforeAll, expect, it } from 'vitest'
import { composeRun, plannedOperation, playRepeat, playRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
let runId = ''
beforeAll(async () => {
  runId = await playRun(served.api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
    { name: 'three', leaves: 'no fix was made; left alone: F401 in line 3 (why)' },
  ])
})

let stderr = ''
const diff = (...args: string[]) => diffOf(runId, ...args)
const diffOf = (run: string, ...args: string[]) => remora('diff', run, ...args)

async function remora(...args: string[]): Promise<string> {
  const printed = await served.remora(...args)
  stderr = printed.err
  return printed.out
}

const idOf = (name: string) => plannedOperation(name).operationId

it('prints what an operation changed', async () => {
  expect(await diff(idOf('one'))).toContain('+x = 1\n')
  expect(stderr).toMatch(
    new RegExp(
      `^lint ${idOf('one')}  a\\.py one  succeeded: .*\n  change set c[0-9a-f]{16}: pending\n  parses holds  a\\.py\n$`,
    ),
  )
  expect(JSON.parse(await diff(idOf('one'), '--json'))).toMatchObject({ changes: [{ operation_id: idOf('one') }] })
})

it('prints a change set that was left out of the patch, and what keeps it out', async () => {
  const changes = [{ kind: 'create' as const, path: 'one.py', content: 'y = 2\n' }]
  const other = await playRun(served.api, [{ name: 'one', changes }])
  const left = {
    changeSetId: changeSetId(idOf('one'), changes),
    operationId: idOf('one'),
    path: 'one.py',
    errorCode: 'WORK_001' as const,
    reason: 'another change set creates it',
    text: 'y = 2\n',
    with: {
      changeSetId: 'c0',
      operationId: 'o0',
      agent: 'docstring',
      node: { path: 'one.py', qualifiedName: 'f' },
      text: 'z = 3\n',
    },
  }
  await composeRun(served.api, other, { files: [], conflicts: [left] })
  expect(await diffOf(other, idOf('one'))).toContain('+y = 2\n')
  expect(stderr).toContain(`left out of the patch: WORK_001  ${idOf('one')} one.py collides with docstring o0 one.py f`)
  expect(stderr).toContain('   would make of it:\n  | y = 2\n  docstring one.py f makes of it:\n  | z = 3\n')
  expect(await diffOf(other)).toBe('')
  expect(stderr).toMatch(/^1 change set left out of the patch:\n {2}WORK_001 .* collides with docstring o0 one\.py f\n/)
  expect(stderr).toContain(`  To have the first instead: remora reject ${other} c0\n`)
  expect(JSON.parse(await diffOf(other, '--json'))).toMatchObject({ left_out_count: 1, left_out: [{ path: 'one.py' }] })
})

it('names a change set that was made again in its run by its id, by which it can be accepted all the same', async () => {
  const made = (content: string) => ({
    name: 'one',
    changes: [{ kind: 'create' as const, path: 'one.py', content }],
  })
  const run = await playRun(served.api, [made('y = 1\n')])
  const first = changeSetId(idOf('one'), made('y = 1\n').changes)
  await playRepeat(served.api, run, made('y = 2\n'))
  expect(await diffOf(run, idOf('one'))).toContain('+y = 2\n')
  expect(stderr).toContain(`  of an earlier attempt: to have it all the same: remora accept ${run} ${first}\n`)
  expect(stderr).toContain('  | +y = 1\n')
  expect(await remora('accept', run, first)).toMatch(/^accepted /)
})

it('says of an operation that changed nothing why, and prints no diff', async () => {
  expect(await diff(idOf('two'))).toBe('')
  expect(stderr).toBe(`lint ${idOf('two')}  a.py two  failed, changed nothing: AGENT_004 turn limit of 12\n`)
  expect(await diff('a.py', 'three')).toBe('')
  expect(stderr).toBe(
    `lint ${idOf('three')}  a.py three  unchanged: no fix was made; left alone: F401 in line 3 (why)\n`,
  )
  expect(JSON.parse(await diff(idOf('three'), '--json'))).toMatchObject({
    operation_id: idOf('three'),
    operations: [{ status: 'unchanged', outcome: { summary: expect.stringContaining('left alone') } }],
    diff: '',
    changes: [],
  })
})

it('prints of a path what all operations in that file changed', async () => {
  for (const words of [['a.py'], ['lint', 'a.py']]) {
    expect(await diff(...words)).toBe(await diff(idOf('one')))
    await diff(...words)
    const ended = [`${idOf('one')}  a.py one  succeeded`, `${idOf('two')}  a.py two  failed`, `${idOf('three')}  a.py`]
    for (const text of ended) expect(stderr).toContain(text)
  }
  const { operations, changes } = JSON.parse(await diff('a.py', '--json'))
  expect([operations.length, changes.length]).toEqual([3, 1])
  await expect(diff('b.py')).rejects.toMatchObject({
    code: 'RUN_004',
    message: expect.stringContaining('no node "b.py"'),
  })
})

it('says of an operation that goes on that it has not ended, beside others without failing', async () => {
  const asks = { text: 'Which?', choices: null }
  const waiting = await playRun(served.api, [
    { name: 'one', leaves: 'nothing to do' },
    { name: 'two', asks },
  ])
  const message = `operation ${idOf('two')} of run ${waiting} has not ended: it is waiting`
  await expect(diffOf(waiting, idOf('two'))).rejects.toMatchObject({ code: 'RUN_006', message })
  expect(await diffOf(waiting, 'a.py')).toBe('')
  expect(stderr).toContain(`${idOf('two')}  a.py two  has not ended: it is waiting\n`)
})

it('says that the patch of a run that goes on is not there yet', async () => {
  const message = `Run ${runId} has no patch yet: it is running.`
  await expect(diff()).rejects.toMatchObject({ code: 'RUN_006', message })
})
