import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { askingAgent } from '../asking-agent.ts'
import { editingAgent } from '../editing-agent.ts'
import { sourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const source = `def price(amount):
    return amount * 2


def discount(amount):
    return f"none"
`

/** Asks a person before it changes anything: the attempt after the answer starts from the same changes. */
const asking = Object.entries(askingAgent).map(([path, text]) => [
  path,
  text.replace('languages:', 'after: [swap]\nlanguages:'),
])

const agents = {
  ...Object.fromEntries(asking),
  ...editingAgent('swap', { from: 'amount * 2', to: '2 * amount' }),
  ...editingAgent('cents', { from: 'amount * 2', to: 'round(amount) * 2' }),
  ...editingAgent('clash', { from: 'return ', to: 'return +' }),
  ...editingAgent('unary', { from: 'return ', to: 'return -' }),
  ...editingAgent('rounds', { yaml: 'after: [swap]', from: '* amount', to: '* round(amount)' }),
  ...editingAgent('remove', { kinds: 'file', from: '\n\n\ndef discount(amount):\n    return f"none"', to: '' }),
  ...editingAgent('late', { yaml: 'after: [remove]', from: 'none', to: 'nothing' }),
  ...editingAgent('broken', { kinds: 'file', from: 'def price', to: 'def (' }),
  ...editingAgent('needs', { yaml: 'after: [broken]', from: '* 2', to: '* 3' }),
  ...editingAgent('hopes', { yaml: 'after_optional: [broken]', from: '* 2', to: '* 3' }),
}

const Questions = z.object({ questions: z.array(z.looseObject({ request_id: z.string() })) })
describe.skipIf(lacks('git'))('work that builds on work', () => {
  const folder = useSourceFolder({ 'shop.py': source, ...agents })
  const services = useOneProcess(() => ({ env: { REMORA_AGENTS_DIR: join(folder.path, 'agents') } }))

  async function answerAll(runId: string, count: number): Promise<void> {
    const asked = async () =>
      Questions.parse(await (await services.api.ask(`/v1/runs/${runId}/questions`)).json()).questions
    await until(asked, { holds: ({ length }) => length === count, withinMs: 30_000 })
    for (const { request_id: id } of await asked()) {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ answer: 'selling' }) }
      expect((await services.api.ask(`/v1/runs/${runId}/questions/${id}`, init)).status).toBe(200)
    }
  }

  async function completed(...names: string[]) {
    const request = { agents: names, paths: ['shop.py'] }
    const runId = await services.api.submit(await folder.pack(), request)
    if (names.includes('purpose')) await answerAll(runId, 2)
    const { events, status } = await services.api.follow(runId)
    expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
    const operations = await services.api.operations(runId)
    const changes = await services.api.changes(runId)
    const copy = await sourceFolder({ 'shop.py': source })
    const patch = await (await services.api.ask(`/v1/runs/${runId}/patch`)).text()
    if (patch !== '') await copy.apply(patch)
    const text = await copy.read('shop.py')
    await copy.remove()
    const ends = operations.map(({ agent, node, status: end }) => `${agent} ${node.qualified_name} ${end}`)
    return { runId, status, events, operations, ends, changes, text }
  }

  it('starts from what the operations that it waits for have changed, and says what it is built on', async () => {
    const { status, text, changes } = await completed('swap', 'rounds')
    expect(status).toBe('completed')
    expect(text).toContain('return 2 * round(amount)\n')
    const swap = changes.find(({ agent }) => agent === 'swap')
    const rounds = changes.find(({ agent }) => agent === 'rounds')
    expect(rounds?.built_on).toEqual([swap?.change_set_id])
    expect(swap?.built_on).toEqual([])
  })

  it('goes on from the same changes after a person was asked', async () => {
    const { status, text, changes } = await completed('swap', 'purpose')
    expect(status).toBe('completed')
    expect(text).toContain('# selling\ndef price(amount):\n    return 2 * amount\n')
    const swap = changes.find(({ agent }) => agent === 'swap')
    const onSwap = changes.filter(
      ({ agent, built_on: on }) => agent === 'purpose' && on.includes(swap?.change_set_id ?? ''),
    )
    expect(onSwap.length).toBeGreaterThanOrEqual(1)
  })

  it('skips a node that is not there any more', async () => {
    const { ends, text, events } = await completed('remove', 'late')
    expect(ends).toEqual(['remove shop.py succeeded', 'late price unchanged', 'late discount skipped'])
    expect(text).not.toContain('discount')
    const ended = events.filter(({ event, data }) => event === 'operation.ended' && data['status'] === 'skipped')
    expect(ended).toHaveLength(1)
  })

  it('does without what ended badly only where that is optional', async () => {
    const { ends, text } = await completed('broken', 'needs', 'hopes')
    expect(ends.toSorted()).toEqual([
      'broken shop.py failed',
      'hopes discount unchanged',
      'hopes price succeeded',
      'needs discount skipped',
      'needs price skipped',
    ])
    expect(text).toContain('return amount * 3')
  })

  it('does work that collides once more on top of what it collided with', async () => {
    const { text, operations, changes, events } = await completed('swap', 'cents')
    expect(text).toContain('return 2 * amount\n')
    const [swap, cents, again] = ['swap', 'cents', 'again'].map((name) =>
      operations.find(({ agent, repeats }) => (repeats === null ? agent === name : name === 'again')),
    )
    expect(again).toMatchObject({ agent: 'cents', status: 'unchanged', repeats: cents?.operation_id })
    expect(again).toMatchObject({ starts_from: [swap?.operation_id] })
    expect(changes.find(({ agent }) => agent === 'cents')).toMatchObject({ is_redone: true })
    const repeated = events.filter(({ event }) => event === 'operations.repeated')
    expect(repeated.map(({ data }) => data)).toMatchObject([{ operations: 1 }])
    expect(events.find(({ event }) => event === 'run.composed')?.data).toMatchObject({ conflicts: [] })
  })

  it('puts several that collide on top of each other, and runs nothing a third time', async () => {
    const { operations, changes, events, text } = await completed('clash', 'unary', 'swap')
    expect(text).toContain('return -+2 * amount\n')
    const repeated = operations.flatMap(({ repeats }) => repeats ?? [])
    expect(new Set(repeated).size).toBe(repeated.length)
    expect(events.filter(({ event }) => event === 'operations.repeated')).toHaveLength(1)
    const proposed = changes.filter((change) => !change.is_redone)
    expect(proposed.filter(({ conflict }) => conflict !== undefined)).toEqual([])
    expect(proposed.map(({ agent }) => agent).toSorted()).toEqual(['clash', 'clash', 'swap', 'unary', 'unary'])
  })
})
