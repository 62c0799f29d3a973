import { expect, test } from 'vitest'
import { openConnection } from '#client/connection.ts'
import { readInbox } from './read-questions.ts'

type Asked = { run_id: string; open_questions: number; waiting_for: { kind: string }[] }

const runOf = (id: string, given: Partial<Asked> = {}): Asked => ({
  run_id: id,
  open_questions: 0,
  waiting_for: [],
  ...given,
})

/** Answers as a service does that has these runs and questions, and counts what it was asked. */
function serviceOf(runs: readonly Asked[], questions: Readonly<Record<string, readonly object[]>>) {
  const asked: string[] = []
  const fetch = (url: string) => {
    const { pathname, searchParams } = new URL(url)
    asked.push(pathname)
    if (pathname === '/v1/runs')
      return Response.json({ runs: searchParams.get('ended') === 'false' ? runs : [], next: null })
    const all = questions[pathname.split('/')[3] ?? '']
    if (all === undefined) return Response.json({ error_code: 'RUN_001', title: 'no such run' }, { status: 404 })
    return Response.json({ questions: all, next: null })
  }
  return { connection: openConnection({ url: 'http://remora.test', fetch }), asked }
}

const { signal } = new AbortController()
const question = (id: string, status: string) => ({ request_id: id, status })

test('the inbox reads the questions of runs that ask something, and of no others', async () => {
  const planned = runOf('planned', { waiting_for: [{ kind: 'approval' }] })
  const runs = [runOf('asks', { open_questions: 1 }), runOf('works'), planned]
  const { connection, asked } = serviceOf(runs, { asks: [question('q1', 'open')], planned: [] })
  const inbox = await readInbox(connection, [], signal)
  expect(inbox.map(({ run }) => run.run_id)).toEqual(['asks', 'planned'])
  expect(asked).toEqual(['/v1/runs', '/v1/runs/asks/questions', '/v1/runs/planned/questions'])
})

test('what was shown stays with its answer when its run has ended, and is gone with its run', async () => {
  const open = serviceOf([runOf('one', { open_questions: 1 })], { one: [question('q1', 'open')] })
  const before = await readInbox(open.connection, [], signal)
  const ended = serviceOf([], { one: [question('q0', 'answered'), question('q1', 'answered')] })
  const after = await readInbox(ended.connection, before, signal)
  expect(after.map(({ questions }) => questions)).toEqual([[question('q1', 'answered')]])
  expect(await readInbox(serviceOf([], {}).connection, after, signal)).toEqual([])
})
