import { describe, expect, it } from 'vitest'
import { objectKeys, objectPlace } from './object-keys.ts'

const hash = 'a0'.repeat(32)
const runId = 'r00abcdefgh'

describe('objectPlace', () => {
  it.for([
    [
      objectKeys.baseUpload('default', runId, 'a-_1'),
      { kind: 'upload', key: objectKeys.baseUpload('default', runId, 'a-_1'), runId },
    ],
    [objectKeys.upload('default', runId), { kind: 'upload', key: objectKeys.upload('default', runId), runId }],
    [objectKeys.blob('default', hash), { kind: 'blob', hash }],
    [objectKeys.tree('default', hash), { kind: 'tree', hash }],
    [objectKeys.snapshot('default', hash), { kind: 'snapshot', hash }],
    [objectKeys.attempt('default', hash), { kind: 'attempt', hash }],
    [objectKeys.bundle('default', hash), { kind: 'bundle', hash }],
    [objectKeys.environment('default', hash), { kind: 'environment', hash }],
    [objectKeys.nodeIndex('default', `${hash}.python.${hash}.json`), { kind: 'node_index', blobHash: hash }],
    [objectKeys.composition('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.patchPart('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.eventSegment('default', runId, { first: 1, last: 9 }), { kind: 'run_object', runId }],
    [objectKeys.eventPayload('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.pastAttempt('default', runId, 'o1:2'), { kind: 'run_object', runId }],
    [objectKeys.nodeList('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.nodePage('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.nodeIds('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.edgeList('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.edgePage('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.edgeSpans('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.repositoryRules('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.planSummary('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.itemReads('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.decision('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.artifact('default', runId, hash), { kind: 'run_object', runId }],
    [objectKeys.ledgerMark('default'), { kind: 'ledger_mark' }],
  ] as const)('reads what object-keys.ts made: %s', ([key, place]) => {
    expect(objectPlace('default', key)).toEqual(place)
  })

  it.for([
    `projects/other/blobs/${hash}`,
    `projects/default/blobs/${hash}.bak`,
    `projects/default/blobs/${hash.slice(1)}`,
    `projects/default/runs/${runId}/notes.txt`,
    'projects/default/backup.tar',
  ])('does not know %s', (key) => {
    expect(objectPlace('default', key)).toBeUndefined()
  })

  it('knows every kind of key there is', () => {
    expect(Object.keys(objectKeys)).toHaveLength(26)
  })
})
