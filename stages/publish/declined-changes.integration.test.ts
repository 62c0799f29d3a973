import { describe, expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import {
  changeKey,
  type ChangeOfNode,
  type DeclinedChanges,
  type DeclinedLimits,
  openDeclinedChanges,
  withoutDeclined,
} from './declined-changes.ts'

const node = { path: 'a.py', kind: 'function', qualifiedName: 'greet' }
const text = 'import os\n\ndef greet():\n    pass\n'
const longer = `# A comment – another one.\n${text}`
const readBlob = async (hash: string) => Buffer.from([text, longer].find((one) => sha256(one) === hash) ?? '')

function change(id: string, files: FileChange[], over: Partial<ChangeSet> = {}): ChangeOfNode {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: 'docstring', nodeId: 'n0000000000000000' }
  return { set: { ...ids, files, evidence: [], ...over }, node }
}

function edit(base: string, from: string, to: string): FileChange {
  const start = Buffer.from(base).indexOf(from)
  const edits = [{ start, end: start + from.length, text: to }]
  return { kind: 'edit', path: 'a.py', baseHash: sha256(base), edits }
}

describe('a change', () => {
  const keyOf = (one: ChangeOfNode) => changeKey(one, readBlob)
  const first = change('c1', [edit(text, 'pass', 'return 1')])

  it('is the same wherever in its file and in whatever run it is made', async () => {
    const moved = change('c2', [edit(longer, 'pass', 'return 1')], { operationId: 'o2', builtOn: ['c0'] })
    expect(await keyOf(moved)).toBe(await keyOf(first))
    const created: FileChange[] = ['b.py', 'c.py'].map((path) => ({ kind: 'create', path, content: 'x' }))
    expect(await keyOf(change('c3', created))).toBe(await keyOf(change('c4', created.toReversed())))
  })

  it.each<[string, ChangeOfNode]>([
    ['writes another text', change('c', [edit(text, 'pass', 'return 2')])],
    ['replaces another text', change('c', [edit(text, '    pass', 'return 1')])],
    ['is made by another agent', change('c', [edit(text, 'pass', 'return 1')], { bundle: 'lint' })],
    ['is made to another definition', { ...first, node: { ...node, qualifiedName: 'leave' } }],
    ['is made to another kind of node', { ...first, node: { ...node, kind: 'class' } }],
    ['is made in another file', { ...first, node: { ...node, path: 'b.py' } }],
    ['does more', change('c', [edit(text, 'pass', 'return 1'), { kind: 'create', path: 'b.py', content: '' }])],
    ['deletes the file', change('c', [{ kind: 'delete', path: 'a.py', baseHash: sha256(text) }])],
    ['makes it executable', change('c', [{ ...edit(text, 'pass', 'return 1'), executable: true }])],
  ])('is another one when it %s', async (_what, other) => {
    expect(await keyOf(other)).not.toBe(await keyOf(first))
  })
})

describe('the changes that people did not want', () => {
  const test = useOpened(testLedger)

  let repository = 0
  function opened(limits?: DeclinedLimits): { declined: DeclinedChanges; id: number; key: string } {
    const id = (repository += 1)
    const declined = openDeclinedChanges(test.redis, test.namespace, limits)
    return { declined, id, key: `${test.namespace}:{github}:declined:${id}` }
  }

  it('are kept for their repository, until their pull request is open again', async () => {
    const { declined, id } = opened()
    const among = async (keys: string[]) => [...(await declined.among(id, keys)).keys()]
    await declined.add(id, ['one', 'two'])
    await declined.add(id, [])
    expect(await among(['two', 'three', 'one'])).toEqual(['two', 'one'])
    expect(await declined.among(id + 1_000, ['one'])).toEqual(new Map())
    expect(await among([])).toEqual([])
    await declined.remove(id, ['one'])
    expect(await among(['one', 'two'])).toEqual(['two'])
  })

  it('are only the newest, in any number that is asked for', async () => {
    const { declined, id, key } = opened({ most: 1_500, days: 1 })
    const keys = Array.from({ length: 2_500 }, (_, at) => `k${String(at).padStart(4, '0')}`)
    await declined.add(id, keys)
    expect((await declined.among(id, keys)).size).toBe(1_500)
    expect(await test.redis.zcard(key)).toBe(1_500)
    expect(await test.redis.pttl(key)).toBeGreaterThan(86_000_000)
  })

  it('are forgotten after their time', async () => {
    const { declined, id, key } = opened({ most: 10, days: 1 })
    await declined.add(id, ['new'])
    await test.redis.zadd(key, Date.now() - 90_000_000, 'old')
    expect([...(await declined.among(id, ['old', 'new'])).keys()]).toEqual(['new'])
    await declined.add(id, ['newer'])
    expect(await test.redis.zrange(key, '0', '-1')).toEqual(['new', 'newer'])
  })

  it('are not proposed again, nor is what is built on them', async () => {
    const { declined, id } = opened()
    const base = change('c1', [edit(text, 'pass', 'return 1')])
    await declined.add(id, [await changeKey(base, readBlob)])
    const again = change('c5', [edit(longer, 'pass', 'return 1')])
    const upon = change('c4', [edit(longer, 'pass', 'return 11')], { builtOn: ['c5'] })
    const further = change('c3', [edit(longer, 'pass', 'return 111')], { builtOn: ['c4'] })
    const other = change('c2', [edit(longer, 'os', 'sys')])
    const all = [further, other, upon, again]
    const answer = await withoutDeclined(all, { repositoryId: id, declined, readBlob })
    expect(answer).toEqual({ left: [other], declined: [further, upon, again] })
  })

  it('are proposed again once a person accepts one of them, of this run and of later ones', async () => {
    const { declined, id } = opened()
    const again = change('c5', [edit(longer, 'pass', 'return 1')])
    await declined.add(id, [await changeKey(again, readBlob)])
    const proposed = async (...times: (number | undefined)[]) => {
      const changes = times.map((acceptedByPersonAt, at) => ({
        ...change(`c${at}`, again.set.files),
        acceptedByPersonAt,
      }))
      return (await withoutDeclined(changes, { repositoryId: id, declined, readBlob })).left.length
    }
    const now = Date.now()
    expect(await proposed(now - 3_600_000)).toBe(0)
    expect(await proposed(undefined)).toBe(0)
    // Two definitions may have one name, such as those of a property.
    expect(await proposed(now + 3_600_000, undefined)).toBe(2)
    expect(await proposed(undefined)).toBe(1)
  })

  it('stay declined where somebody declines them again meanwhile', async () => {
    const { declined, id } = opened()
    await declined.add(id, ['one', 'two'])
    const added = await declined.among(id, ['one', 'two'])
    await declined.removeOlder(
      id,
      new Map([
        ['one', added.get('one') ?? 0],
        ['two', Date.now() + 3_600_000],
        ['none', 1],
      ]),
    )
    expect([...(await declined.among(id, ['one', 'two'])).keys()]).toEqual(['one'])
  })
})
