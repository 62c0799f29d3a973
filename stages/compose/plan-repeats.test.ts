import { describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { ChangeSet, Edit } from '#domain/change-set.ts'
import { type OperationId, recordId } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import type { CollectedChange } from './collect-changes.ts'
import { planRepeats } from './plan-repeats.ts'

const idOf = (name: string): OperationId => aPlannedOperation(name).operationId
const againOf = (name: string): OperationId => recordId(idOf(name), 2)

/** What the operation `name` has changed in one file; it has started from the changes of `startsFrom`. */
function changeOf(
  name: string,
  edits: Edit[],
  over: Pick<Partial<Operation>, 'repeats' | 'supersededBy'> & { builtOn?: string[]; id?: string } = {},
) {
  const { builtOn, id = `c ${name}`, ...rest } = over
  const planned = aPlannedOperation(name)
  const startsFrom = (builtOn ?? []).map((other) => idOf(other.slice(2)))
  const operation: Operation = {
    ...planned,
    runId: 'r00000000',
    status: 'succeeded',
    attempt: 1,
    dispatch: 1,
    lost: 0,
    dependenciesLeft: 0,
    startedAt: 1,
    begunAt: 1,
    generation: 1,
    itemId: null,
    supersededBy: null,
    keptAttempts: [],
    endedAt: 2,
    outcome: null,
    waitsFor: null,
    suspensionHash: null,
    startsFrom,
    repeats: null,
    ...rest,
  }
  const set: ChangeSet = {
    changeSetId: id,
    operationId: planned.operationId,
    bundle: name,
    nodeId: planned.node.nodeId,
    evidence: [],
    files: [{ kind: 'edit', path: 'a.py', baseHash: 'base', edits }],
    ...(builtOn === undefined ? {} : { builtOn }),
  }
  return { set, operation, recordHash: 'r', isRedone: false }
}

const at = (start: number, text: string, length = 4): Edit => ({ start, end: start + length, text })

function repeatsOf(selected: readonly CollectedChange[]) {
  const { conflicts } = composeChangeSets(selected.map(({ set }) => set))
  return planRepeats({ selected, conflicts, generation: 1 }).map(
    ({ operationId, after, afterAny, startsFrom, repeats }) => {
      return { operationId, after, afterAny, startsFrom, sets: repeats?.changeSetIds, of: repeats?.operationId }
    },
  )
}

describe('work that collided', () => {
  it('is done once more on top of what it collided with', () => {
    expect(
      repeatsOf([changeOf('one', [at(0, 'x')]), changeOf('other', [at(8, 'y')]), changeOf('late', [at(2, 'z')])]),
    ).toEqual([
      {
        operationId: againOf('late'),
        after: [],
        afterAny: [],
        startsFrom: [idOf('one')],
        sets: ['c late'],
        of: idOf('late'),
      },
    ])
  })

  it('waits for other such work that it collided with, and for that which it is built on', () => {
    const selected = [
      changeOf('one', [at(0, 'x')]),
      changeOf('second', [at(2, 'y')]),
      changeOf('third', [at(3, 'z')]),
      changeOf('upon', [at(20, 'w')], { builtOn: ['c second'] }),
    ]
    const [second, third, upon] = repeatsOf(selected)
    expect(second).toMatchObject({ operationId: againOf('second'), afterAny: [] })
    expect(third).toMatchObject({
      operationId: againOf('third'),
      afterAny: [againOf('second')],
      startsFrom: [idOf('one')],
    })
    expect(upon).toMatchObject({
      operationId: againOf('upon'),
      afterAny: [againOf('second')],
      startsFrom: [idOf('second')],
    })
  })

  it('of a mechanical operation leaves those of its changes alone that are in the patch', () => {
    const fine = changeOf('fixes', [at(40, 'f')], { id: 'c fine' })
    const colliding = changeOf('fixes', [at(2, 'g')], { id: 'c colliding' })
    expect(repeatsOf([changeOf('one', [at(0, 'x')]), fine, colliding])).toMatchObject([
      { operationId: againOf('fixes'), startsFrom: [idOf('one'), idOf('fixes')], sets: ['c colliding'] },
    ])
  })

  it('is done twice at most, and only where it collided', () => {
    const one = changeOf('one', [at(0, 'x')])
    const first = { operationId: idOf('late'), supersedes: idOf('late'), changeSetIds: [] }
    const collided = { ...first, because: 'collided' as const }
    expect(repeatsOf([one, changeOf('late', [at(2, 'z')], { repeats: collided })])).toEqual([])
    expect(repeatsOf([one, changeOf('late', [at(2, 'z')], { supersededBy: againOf('late') })])).toEqual([])
    expect(repeatsOf([one, changeOf('late', [at(8, 'z')])])).toEqual([])
    const selected = [one, changeOf('late', [at(2, 'z')])]
    const conflicts = [{ changeSetId: 'c late', operationId: idOf('late'), path: 'a.py', reason: 'it breaks it' }]
    const broken = conflicts.map((conflict) => ({ ...conflict, errorCode: 'WORK_004' as const }))
    expect(planRepeats({ selected, conflicts: broken, generation: 1 })).toEqual([])
  })
})

describe('work whose base is not in the patch', () => {
  const upon = changeOf('upon', [at(20, 'w')], { builtOn: ['c base'] })
  const repeated = {
    operationId: againOf('upon'),
    after: [],
    afterAny: [],
    startsFrom: [idOf('base')],
    sets: ['c upon'],
  }

  it('is done once more where somebody has rejected that, or it was made anew', () => {
    expect(repeatsOf([changeOf('other', [at(8, 'y')]), upon])).toEqual([{ ...repeated, of: idOf('upon') }])
    expect(repeatsOf([upon, changeOf('base', [at(0, 'n')], { id: 'c anew' })])).toMatchObject([repeated])
  })

  it('is done once more without that where it breaks a check, but with what else its operation has made', () => {
    const base = changeOf('base', [at(0, 'x')])
    const selected = [base, changeOf('base', [at(8, 'f')], { id: 'c fine' }), upon]
    const broken = { changeSetId: 'c base', operationId: idOf('base'), errorCode: 'WORK_004' as const }
    const missing = { changeSetId: 'c upon', operationId: idOf('upon'), errorCode: 'WORK_002' as const }
    const conflicts = [broken, missing].map((one) => ({ ...one, path: 'a.py', reason: 'it is left out' }))
    const [only, ...more] = planRepeats({ selected, conflicts, generation: 1 })
    expect(more).toEqual([])
    expect(only).toMatchObject({ operationId: againOf('upon'), startsFrom: [idOf('base')] })
    expect(only?.repeats).toEqual({
      operationId: idOf('upon'),
      supersedes: idOf('upon'),
      because: 'collided',
      changeSetIds: ['c upon'],
      without: ['c base'],
    })
  })

  it('does not start from what collided either, should the repeat of that fail', () => {
    const selected = [changeOf('one', [at(0, 'x')]), changeOf('base', [at(2, 'y')]), upon]
    const { conflicts } = composeChangeSets(selected.map(({ set }) => set))
    const [base, only] = planRepeats({ selected, conflicts, generation: 1 })
    expect(base?.repeats).not.toHaveProperty('without')
    expect(only).toMatchObject({ afterAny: [againOf('base')], repeats: { without: ['c base'] } })
  })
})
