import { beforeAll, describe, expect, it } from 'vitest'
import { newTraceparent } from '#domain/traceparent.ts'
import { tarOf } from '../../app.fixture.ts'
import { acceptRun, type AcceptDeps, type Intake } from '#stages/intake/accept-run.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

let archive: Uint8Array
const api = useTestApi()
beforeAll(async () => {
  archive = await tarOf({ 'a.py': 'x = 1\n' })
})

async function* arriving(bytes: Uint8Array) {
  yield bytes
}

function intakeWith(idempotencyKey: string): Intake {
  const correlation = { requestId: 'q1', traceparent: newTraceparent(null) }
  return {
    archive: arriving(archive),
    request: { agents: ['lint'] },
    wholeRequest: async () => ({ agents: ['lint'] }),
    projectId: api.project,
    idempotencyKey,
    correlation,
  }
}

/** The keys under which something was stored. */
function watched(): { keys: string[]; deps: AcceptDeps } {
  const keys: string[] = []
  const putStream: AcceptDeps['objects']['putStream'] = (key, content, options) => {
    keys.push(key)
    return api.objects.putStream(key, content, options)
  }
  return { keys, deps: { ...api.intake, objects: { ...api.objects, putStream } } }
}

const died = () => Promise.reject(new Error('the process died here'))

describe('acceptRun', () => {
  it('finishes what a crash before the run left undone when the same body comes again', async () => {
    const crashing: AcceptDeps = { ...api.intake, ledger: { ...api.intake.ledger, createRun: died } }
    await expect(acceptRun(intakeWith('before-run'), crashing)).rejects.toThrow('died')
    expect(api.jobs).toEqual([])
    const { runId } = await acceptRun(intakeWith('before-run'), api.intake)
    const run = await api.ledger.getRun(runId)
    expect(Buffer.from(await api.objects.get(run.uploadKey)).equals(archive)).toBe(true)
    expect(api.jobs).toEqual([runId])
  })

  it('finishes what a crash before the job left undone', async () => {
    await expect(acceptRun(intakeWith('before-job'), { ...api.intake, producer: { add: died } })).rejects.toThrow(
      'died',
    )
    const { runId } = await acceptRun(intakeWith('before-job'), api.intake)
    expect(api.jobs).toContain(runId)
  })

  it('does not queue a run again that has started since', async () => {
    const { runId } = await acceptRun(intakeWith('started'), api.intake)
    await api.ledger.move(runId, { from: [{ status: 'queued' }], to: { status: 'running' }, command: 'go', events: [] })
    const jobs = [...api.jobs]
    expect((await acceptRun(intakeWith('started'), api.intake)).runId).toBe(runId)
    expect(api.jobs).toEqual(jobs)
  })

  it('keeps nothing of an upload that breaks off', async () => {
    async function* broken() {
      yield archive.subarray(0, 600)
      throw new Error('gone')
    }
    const { keys, deps } = watched()
    await expect(acceptRun({ ...intakeWith('broken'), archive: broken() }, deps)).rejects.toThrow('gone')
    expect(keys).toHaveLength(1)
    for (const key of keys) expect(await api.objects.exists(key)).toBe(false)
  })

  it('checks a request that came first before anything is stored', async () => {
    const { keys, deps } = watched()
    const unknown = { ...intakeWith('early'), request: { agents: ['nobody'] } }
    await expect(acceptRun(unknown, deps)).rejects.toMatchObject({ code: 'INTAKE_006' })
    expect(keys).toEqual([])
  })

  it.for(['without a key', 'with a key'] as const)(
    'deletes the stored upload when the form breaks off behind it, %s',
    async (how) => {
      const { keys, deps } = watched()
      const late = {
        ...intakeWith('late'),
        ...(how === 'without a key' ? { idempotencyKey: undefined } : {}),
        request: undefined,
        wholeRequest: async () => {
          for (const key of keys) expect(await api.objects.exists(key)).toBe(true)
          throw new Error('gone')
        },
      }
      await expect(acceptRun(late, deps)).rejects.toThrow('gone')
      expect(keys).toHaveLength(1)
      for (const key of keys) expect(await api.objects.exists(key)).toBe(false)
      expect(await api.intake.idempotency.find(api.project, 'late')).toBeUndefined()
    },
  )
})
