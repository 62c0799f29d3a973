import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anEvent } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { composeRun, plannedOperation, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const run = promisify(execFile)
const base = Buffer.from('import os\nimport sys\n\nprint(sys.argv)\n')
const fixed = Buffer.from('import sys\n\nprint(sys.argv)\n')
const removesImport = { start: 0, end: 10, text: '' }

const Page = z.object({
  changes: z.array(z.looseObject({ change_set_id: z.string(), conflict: z.unknown().optional() })),
  next: z.string().nullable(),
})

let baseHash: string
const api = useTestApi()
beforeAll(async () => {
  baseHash = await api.blobs.put(api.project, base)
})

const edit = () => ({ kind: 'edit' as const, path: 'a.py', baseHash, edits: [removesImport] })
const endings = () => [
  { name: 'one', changes: [edit()] },
  { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit' } },
  { name: 'three', changes: [{ kind: 'create' as const, path: 'new file.py', content: 'y = 1' }] },
]

describe('GET /v1/runs/{run_id}/changes', () => {
  it('shows every change set as a diff with its evidence', async () => {
    const runId = await playRun(api, endings())
    const answer = await api.ask(`/v1/runs/${runId}/changes`)
    expect(await answer.json()).toMatchObject({
      changes: [
        {
          operation_id: plannedOperation('one').operationId,
          agent: 'lint',
          node_id: plannedOperation('one').node.nodeId,
          files: [{ path: 'a.py', kind: 'edit' }],
          diff: expect.stringContaining('\n-import os\n import sys\n'),
          evidence: [{ check: 'parses', ok: true }],
          verdict: 'pending',
        },
        { files: [{ path: 'new file.py', kind: 'create' }], diff: expect.stringContaining('new file mode 100644') },
      ],
      next: null,
    })
  })

  it('shows as many lines around a change as are asked for', async () => {
    const runId = await playRun(api, endings())
    const diffOf = async (query: string) => {
      const answer = await api.ask(`/v1/runs/${runId}/changes?limit=1&${query}`)
      return z.object({ changes: z.array(z.looseObject({ diff: z.string() })) }).safeParse(await answer.json()).data
        ?.changes[0]?.diff
    }
    expect(await diffOf('context=0')).toMatch(/@@\n-import os\n$/)
    expect(await diffOf('context=1')).toMatch(/@@\n-import os\n import sys\n$/)
    const operation = `operation_id=${plannedOperation('one').operationId}`
    expect(await diffOf(`${operation}&context=0`)).toMatch(/@@\n-import os\n$/)
    expect(await diffOf('')).toMatch(/print\(sys.argv\)\n$/)
    expect(await diffOf('context=101')).toBeUndefined()
  })

  it('pages, and marks the set that was left out of the patch', async () => {
    const runId = await playRun(api, endings())
    const page = async (query = '') =>
      Page.parse(await (await api.ask(`/v1/runs/${runId}/changes?limit=1${query}`)).json())
    const first = await page()
    const left = {
      changeSetId: first.changes[0]?.change_set_id ?? '',
      operationId: plannedOperation('one').operationId,
      path: 'a.py',
      errorCode: 'WORK_001' as const,
      reason: 'overlaps another change',
      agent: 'lint',
      lines: { first: 1, last: 1 },
      with: { changeSetId: 'c0', operationId: 'o0', agent: 'docstring' },
    }
    await composeRun(api, runId, { files: [], conflicts: [left] })
    const conflict = {
      change_set_id: left.changeSetId,
      operation_id: left.operationId,
      agent: 'lint',
      path: 'a.py',
      error_code: 'WORK_001',
      reason: 'overlaps another change',
      lines: { first: 1, last: 1 },
      with: { change_set_id: 'c0', operation_id: 'o0', agent: 'docstring' },
    }
    expect((await page()).changes[0]?.conflict).toEqual(conflict)
    const view = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(view).toMatchObject({ conflicts: 1, left_out: [conflict] })
    const second = await page(`&cursor=${first.next}`)
    expect(second.changes).toMatchObject([{ files: [{ path: 'new file.py' }] }])
    expect(second.changes[0]).not.toHaveProperty('conflict')
  })
})

describe('GET /v1/runs/{run_id}/changes?operation_id=', () => {
  const changesOf = (runId: string, name: string) =>
    api.ask(`/v1/runs/${runId}/changes?operation_id=${plannedOperation(name).operationId}`)

  it('shows what one operation changed, and nothing for one that changed nothing', async () => {
    const runId = await playRun(api, endings())
    const changes = [{ operation_id: plannedOperation('three').operationId, qualified_name: 'three' }]
    expect(await (await changesOf(runId, 'three')).json()).toMatchObject({ changes, next: null })
    expect(await (await changesOf(runId, 'two')).json()).toEqual({ changes: [], next: null })
    expect((await changesOf(runId, 'none')).status).toBe(404)
  })
})

describe('GET /v1/runs/{run_id}/patch', () => {
  it.skipIf(lacks('git'))('is one patch that git applies, with files in order', async () => {
    const runId = await playRun(api, endings())
    const evidence = [{ check: 'parses' as const, path: 'a.py', ok: true, tool: 'tree-sitter' }]
    const [fixedHash, newHash] = await api.blobs.putMany(api.project, [fixed, Buffer.from('y = 1')])
    await composeRun(api, runId, {
      files: [
        { path: 'new file.py', baseHash: null, resultHash: newHash ?? '', changeSetIds: [], evidence: [] },
        { path: 'a.py', baseHash, resultHash: fixedHash ?? '', changeSetIds: [], evidence },
      ],
    })
    const answer = await api.ask(`/v1/runs/${runId}/patch?of=proposed`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/x-diff')
    const patch = await answer.text()
    expect(patch.indexOf('b/a.py')).toBeLessThan(patch.indexOf('b/new file.py'))
    expect(await afterApplying(patch)).toEqual({ a: fixed.toString(), created: 'y = 1' })
    const view = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(view).toMatchObject({ status: 'completed', checks: { parses: { ok: 1, total: 1 } } })
  })

  it('says so while the run is not composed', async () => {
    const answer = await api.ask(`/v1/runs/${await playRun(api, endings())}/patch`)
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_006' })
  })

  it('is not awaited of a run that ended without one', async () => {
    const runId = await playRun(api, endings())
    const events = [anEvent({ event: 'run.cancelled', phase: 'execution' })]
    const to = { status: 'cancelled' } as const
    await api.ledger.move(runId, { from: [{ status: 'running' }], to, command: 'stop', events })
    expect(await (await api.ask(`/v1/runs/${runId}/patch`)).json()).toMatchObject({
      status: 409,
      error_code: 'RUN_007',
      detail: `Run ${runId} was cancelled: it has no patch; "remora retry ${runId}" does the rest and makes one patch of all.`,
    })
  })

  it('is no content when nothing changed', async () => {
    const runId = await playRun(api, endings())
    await composeRun(api, runId, { files: [] })
    const answer = await api.ask(`/v1/runs/${runId}/patch`)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
  })

  it('fails openly when a blob is missing', async () => {
    const runId = await playRun(api, endings())
    const file = { path: 'a.py', baseHash, resultHash: '0'.repeat(64), changeSetIds: [], evidence: [] }
    await composeRun(api, runId, { files: [file] })
    const answer = await api.ask(`/v1/runs/${runId}/patch`)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error_code: 'STORE_003', run_id: runId })
  })
})

async function afterApplying(patch: string): Promise<{ a: string; created: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-patch-'))
  try {
    await writeFile(join(dir, 'a.py'), base)
    await writeFile(join(dir, 'all.patch'), patch)
    await run('git', ['init', '-q', dir])
    await run('git', ['-C', dir, 'apply', 'all.patch'])
    const [a, created] = await Promise.all(['a.py', 'new file.py'].map((name) => readFile(join(dir, name), 'utf8')))
    return { a: a ?? '', created: created ?? '' }
  } finally {
    await rm(dir, { recursive: true })
  }
}
