import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import { type RunId, sha256 } from '#domain/ids.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openBuiltLayer } from './workspace/built-layer.ts'
import { openOperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const never = new AbortController().signal
const source = `import os


def shelf(row):
    # ä😀
    return f"shelf", row


def price(row):
    return not row in []


def label(row):
    # it loads much
    import json
    row(f"label")
    return row == None
`

describe('a mechanical operation', () => {
  const bench = useOpened(openOperationBench)

  /** No model is there to be asked. */
  const deps = (over: Partial<OperationDeps> = {}): OperationDeps => {
    const complete = () => Promise.reject(new Error('a model was asked'))
    return { ...bench.deps, model: { complete }, ...over }
  }
  const plan = async (text = source) => bench.plannedFile(await bench.bundle('lint'), text, 'mechanical')
  const eventsOf = (runId: RunId) => bench.ledger.readEvents(runId, { after: 0, limit: 1000 })

  async function ended(planned: Planned) {
    const operation = await bench.operation(planned)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const record = await bench.record(operation)
    const texts = (record.changeSets ?? []).map(({ rules, files: [change] }) => {
      const edits = change?.kind === 'edit' && change.baseHash === planned.file.hash ? change.edits : []
      return [rules?.join(' '), Buffer.from(applyEdits(Buffer.from(planned.file.text), edits)).toString()]
    })
    return { operation, record, texts: Object.fromEntries(texts), events: await eventsOf(planned.runId) }
  }

  async function done(text = source, over: Partial<OperationDeps> = {}) {
    const planned = await plan(text)
    await runOperation(planned.job, deps(over), never)
    return ended(planned)
  }

  /** Its worker falls silent, and the next one does all of the work again. */
  async function doneByAnother({ runId, job: { operationId } }: Planned): Promise<void> {
    await bench.redis.zadd(runKeys(bench.namespace, runId).leases, 1, operationId)
    await bench.ledger.sweep(runId)
    const [taken] = (await bench.ledger.dispatch(runId, 1)).taken
    if (taken === undefined) throw new Error('nothing was dispatched')
    await runOperation({ runId, ...taken }, deps(), never)
  }

  it('asks no model, and makes a proven change set for each rule, with what it left alone in its own record', async () => {
    const { operation, record, texts, events } = await done()
    const left = 'comments_kept: line 14: the comment "# it loads much" is not at its statement any more'
    const summary = `fixed without a model: E713 (1); F401 (1); F541 (2); left alone: F401 in line 15 (${left})`
    expect(operation.outcome).toMatchObject({
      status: 'succeeded',
      turns: 0,
      promptTokens: 0,
      summary,
      changedFiles: ['src/shop.py'],
    })
    expect(texts).toEqual({
      E713: source.replace('not row in', 'row not in'),
      F401: source.replace('import os\n\n\n', ''),
      F541: source.replace('f"shelf"', '"shelf"').replace('f"label"', '"label"'),
    })
    const ids = record.changeSets?.map(({ changeSetId }) => changeSetId)
    expect(new Set(ids).size).toBe(3)
    expect(operation.outcome?.changeSetIds).toEqual(ids)
    const { evidence } = (await bench.bundle('lint')).file
    const checks = evidence.filter((check) => check !== 'only_node_changed').map((check) => [check, true])
    for (const set of record.changeSets ?? []) {
      expect(set.evidence.map(({ check, ok }) => [check, ok])).toEqual(checks)
    }
    expect(record).toMatchObject({ attempt: 1, messages: [], replies: [], exchanges: [], tools: [], changeSet: null })
    expect(record.leftAlone).toEqual([{ rule: 'F401', line: 15, reason: left }])
    expect(record.reads.contents).toHaveProperty('src/shop.py')
    const told = events.filter(({ event }) => event === 'change_set.created').map(({ data }) => data['rules'])
    expect(told).toEqual([['E713'], ['F401'], ['F541']])
    expect(events.map(({ event }) => event).filter((event) => event.startsWith('model.'))).toEqual([])
  })

  it('says in the results what it fixed and left alone', async () => {
    const planned = await plan()
    await runOperation(planned.job, deps(), never)
    await bench.ledger.relayResults(planned.runId)
    const entries = await bench.redis.xrange(`${bench.namespace}:results`, '-', '+')
    const fields = entries.map(([, values]) => values).find((values) => values.includes(planned.runId)) ?? []
    expect(JSON.parse(fields[fields.indexOf('result') + 1] ?? '')).toMatchObject({
      status: 'succeeded',
      changed_files: ['src/shop.py'],
      details: { fixed: [{ rules: ['E713'], count: 1 }, {}, {}], left_alone: [{ rule: 'F401', line: 15 }] },
    })
  })

  it('is unchanged where there is nothing to fix any more, or nothing that passes', async () => {
    const clean = await done('x = 1\n')
    expect(clean.operation.outcome).toMatchObject({ status: 'unchanged', summary: 'no fix was made', changedFiles: [] })
    expect(clean.record).toMatchObject({ changeSets: [], leftAlone: [] })
    const kept = await done('# why\nimport os\n')
    expect(kept.operation.outcome).toMatchObject({
      status: 'unchanged',
      summary: /^no fix was made; left alone: F401 in/,
    })
    expect(kept.operation.outcome?.changeSetIds).toBeUndefined()
    expect(kept.record.leftAlone).toHaveLength(1)
  })

  it('makes one set of the fixes of several rules within one edit that it is built on', async () => {
    const text = 'def price(row):\n    return row\n\n\ndef label(row):\n    return f"label"\n'
    const written = 'return f"price", not row in []'
    const { operationId, node } = aPlannedOperation('price')
    const start = text.indexOf('return row')
    const edits = [{ start, end: start + 'return row'.length, text: written }]
    const change = { kind: 'edit' as const, path: 'src/shop.py', baseHash: sha256(text), edits }
    const ids = { changeSetId: 'c1', operationId, bundle: 'price', nodeId: node.nodeId }
    const earlier = { ...ids, evidence: [], files: [change] }
    const { record } = await done(text, { startLayer: (_attempt, base) => openBuiltLayer(base, [earlier]) })
    const made = record.changeSets ?? []
    expect(made.map(({ rules, builtOn }) => [rules, builtOn])).toEqual([[['E713', 'F541'], ['c1']]])
    const { evidence } = (await bench.bundle('lint')).file
    const checks = evidence.filter((check) => check !== 'only_node_changed').map((check) => [check, true])
    expect(made[0]?.evidence.map(({ check, ok }) => [check, ok])).toEqual(checks)
    const { conflicts, files } = composeChangeSets([earlier, ...made])
    expect(conflicts).toEqual([])
    const all = files.flatMap((file) => (file.kind === 'edit' ? file.edits : []))
    const after = text.replace('return row', 'return "price", row not in []').replace('f"label"', '"label"')
    expect(Buffer.from(applyEdits(Buffer.from(text), all)).toString()).toBe(after)
  })

  it('is done once more where its worker is lost in the middle; what that worker sends later does not count', async () => {
    const planned = await plan()
    let isLost = false
    const check: OperationDeps['evidence']['check'] = async (...asked) => {
      if (!isLost) {
        isLost = true
        await doneByAnother(planned)
      }
      return bench.deps.evidence.check(...asked)
    }
    await runOperation(planned.job, deps({ evidence: { check } }), never)
    const { operation, record, events } = await ended(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 2, lost: 1 })
    expect([record.attempt, record.changeSets?.length]).toEqual([2, 3])
    for (const [event, times] of [
      ['change_set.created', 3],
      ['operation.ended', 1],
    ] as const) {
      expect(events.filter((one) => one.event === event)).toHaveLength(times)
    }
  })
})
