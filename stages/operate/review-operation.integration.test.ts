import { describe, expect, it } from 'vitest'
import { ModelUnavailable } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { OperationResult } from '#store/ledger/results.ts'
import { dayOf } from '#store/ledger/usage.ts'
import { getArtifact, getFindings } from '#store/objects/stored-records.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench, type OperationBench } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const never = new AbortController().signal
const source = `def shelf(rows=[]):
    # TODO: sort them
    try:
        return rows[0]
    except:
        return None
`

/** A tool that reports, asks a person, and reports the same and more. */
const asking = `from typing import Any
from grail import Input, external

file_path: str = Input("file_path")


@external
async def ask_user(question: str) -> str: ...


@external
async def report_finding(claim: str, path: str, line: int, confidence: float) -> dict[str, Any]: ...


await report_finding("before", file_path, 1, 0.5)
await ask_user("Go on?")
again = await report_finding("before", file_path, 1, 0.5)
await report_finding("after", file_path, 1, 0.5)
answer = {"result": again, "summary": "asked", "knowledge_delta": {}, "outcome": "success"}
answer
`

const reporting = `from typing import Any
from grail import Input, external


@external
async def report_progress(action: str, reasoning_summary: str) -> None: ...


@external
async def report_artifact(name: str, text: str) -> dict[str, Any]: ...


@external
async def report_escalation(kind: str, urgency: str, rationale: str) -> dict[str, Any]: ...


await report_progress("Writes notes", "They are wanted")
await report_artifact("notes.txt", "notes")
await report_artifact("notes.txt", "notes")
await report_escalation("security_concern", "high", "A key is in the code.")
answer = {"result": None, "summary": "reported", "knowledge_delta": {}, "outcome": "success"}
answer
`

describe('an operation that only reports findings', () => {
  const bench = useOpened(openOperationBench)

  async function findingsOf(planned: Awaited<ReturnType<OperationBench['planned']>>) {
    const { outcome } = await bench.operation(planned)
    return getFindings(bench.deps.objects, bench.project, outcome?.recordHash ?? '')
  }

  it('uses every tool of the bundle, ends as unchanged, and its findings are in record, events, results and run', async () => {
    const planned = await bench.planned(await bench.bundle('review'), source, 'shelf')
    await runOperation(planned.job, bench.deps, never)
    const operation = await bench.operation(planned)
    expect(operation.outcome).toMatchObject({ status: 'unchanged', findings: 3, changedFiles: [] })
    const { tools, changeSet } = await bench.record(operation)
    expect(changeSet).toBeNull()
    expect(tools.map(({ name, result: { outcome } }) => `${name} ${outcome}`)).toEqual([
      'read_code success',
      'search_code success',
      'report_finding success',
      'report_finding success',
      'report_finding success',
    ])
    expect(tools[0]?.result.result).toMatchObject({ start_line: 1, end_line: 6 })
    expect(tools[1]?.result.result).toEqual([`${planned.file.path}:1: def shelf(rows=[]):`])

    const { path } = planned.file
    const found = await findingsOf(planned)
    expect(found).toMatchObject([
      { path, line: 1, severity: 'warning', confidence: 0.6, rule: 'mutable-default' },
      { path, line: 2, severity: 'note', rule: 'work-left', lineText: '# TODO: sort them' },
      { path, line: 5, severity: 'warning', rule: 'bare-except' },
    ])
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    const told = events.filter(({ event }) => event === 'finding.reported')
    expect(told).toMatchObject(
      found.map(({ claim, line }) => ({ data: { claim, evidence_refs: [`${path}:${line}`] } })),
    )
    expect(events.at(-1)).toMatchObject({ event: 'operation.ended', data: { findings: 3 } })
    expect((await bench.ledger.getRun(planned.runId)).findings).toBe(3)
    expect((await bench.ledger.listReported(planned.runId, { limit: 9 })).operations).toEqual([operation])
    await bench.ledger.relayResults(planned.runId)
    const results = await bench.redis.xrange(`${bench.namespace}:results`, '-', '+')
    const published = results.map(([, fields]) => OperationResult.parse(JSON.parse(fields[5] ?? '')))
    const own = published.find(({ run_id: runId }) => runId === planned.runId)
    expect(own?.findings).toMatchObject(found.map(({ claim, line, rule }) => ({ claim, line, rule })))
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('finds nothing in sound code, also as an agent with a dash in its name, which is counted under it', async () => {
    const bundle = await bench.bundle('review')
    bundle.file.name = 'my-review_2'
    const planned = await bench.planned(bundle, 'def shelf(row):\n    return row\n', 'shelf')
    await runOperation(planned.job, bench.deps, never)
    await bench.ledger.relayResults(planned.runId)
    const { projectId } = await bench.ledger.getRun(planned.runId)
    const usage = await bench.ledger.readUsage(projectId, [dayOf(Date.now())])
    expect(usage).toContainEqual(expect.objectContaining({ agent: 'my-review_2' }))
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const { outcome } = await bench.operation(planned)
    expect(outcome).toMatchObject({ status: 'unchanged', summary: 'Reported nothing.' })
    expect(outcome).not.toHaveProperty('findings')
    expect((await bench.ledger.listReported(planned.runId, { limit: 9 })).operations).toEqual([])
  })

  it('reports once what it had found before its model was away', async () => {
    const planned = await bench.planned(await bench.bundle('review'), source, 'shelf')
    let answered = 0
    const complete: OperationDeps['model']['complete'] = async (request, signal) => {
      if (++answered > 4) throw new ModelUnavailable('all are down', { isAway: true })
      return bench.deps.model.complete(request, signal)
    }
    await runOperation(planned.job, { ...bench.deps, model: { complete } }, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'ready', attempt: 1 })
    const job = await until(async () => (await bench.ledger.dispatch(planned.runId, 1)).taken[0])
    await runOperation({ runId: planned.runId, ...job }, bench.deps, never)
    expect((await bench.operation(planned)).outcome).toMatchObject({ status: 'unchanged', findings: 3 })
    expect((await findingsOf(planned)).map(({ line }) => line)).toEqual([1, 2, 5])
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    expect(events.filter(({ event }) => event === 'finding.reported')).toHaveLength(3)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('goes on after the answer of a person without reporting anything twice', async () => {
    const bundle = await bench.bundle('review')
    const { path = '' } = bundle.scripts['read_code'] ?? {}
    bundle.scripts['read_code'] = { path, source: asking }
    bundle.hostInputs['read_code'] = ['file_path']
    const planned = await bench.planned(bundle, source, 'shelf')
    await runOperation(planned.job, bench.deps, never)
    const by = { kind: 'human', id: 'tester' } as const
    await bench.ledger.resume(planned.runId, { requestId: 'q1', text: 'yes', by, command: 'answer' })
    const [job] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    await runOperation({ ...planned.job, ...job }, bench.deps, never)
    expect((await findingsOf(planned)).map(({ claim }) => claim)).toEqual(['before', 'after'])
  })

  it('has what it made in events, results and store, and tells what it dropped and does while it works', async () => {
    const bundle = await bench.bundle('review')
    const { path = '' } = bundle.scripts['read_code'] ?? {}
    bundle.scripts['read_code'] = { path, source: reporting }
    const planned = await bench.planned(bundle, source, 'shelf')
    await runOperation(planned.job, bench.deps, never)
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    const told = events.filter(({ event }) => /^(?:progress|report|artifact|escalation|tool)\./.test(event))
    expect(told.map(({ event }) => event).slice(0, 4)).toEqual([
      'tool.called',
      'progress.reported',
      'report.dropped',
      'tool.returned',
    ])
    const made = { name: 'notes.txt', media_type: 'text/plain', bytes: 5, sha256: sha256('notes') }
    expect(told.slice(-2)).toMatchObject([
      { event: 'artifact.reported', data: made },
      { event: 'escalation.raised', data: { kind: 'security_concern', affected: [planned.job.operationId] } },
    ])
    expect(await getArtifact(bench.deps.objects, { ...planned, projectId: bench.project }, made.sha256)).toBe('notes')
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })
})
