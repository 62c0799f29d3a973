import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plannedOperation, playRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
let runId = ''
let dir = ''
beforeAll(async () => {
  runId = await playRun(served.api, [
    {
      name: 'one',
      leaves: 'read',
      finds: [
        { claim: 'Wrong\u001b[2J\nresult.', path: 'src/ä b.py', line: 9, endLine: 12, lineText: 'return x', rule: 'r' },
        { claim: 'It may fail.', line: 30, severity: 'error', confidence: 0.9 },
        { claim: 'Look here.', line: 4, severity: 'note' },
      ],
    },
  ])
  dir = await mkdtemp(join(tmpdir(), 'remora-findings-'))
})
afterAll(() => rm(dir, { recursive: true }))

const findings = async (...args: string[]) => (await served.remoraWith({ cwd: dir }, ...args)).out

describe('remora findings', () => {
  it('prints them by path and line, as editors read it', async () => {
    expect(await findings('findings', runId)).toBe(`a.py:4: note: Look here. (lint, confidence 0.5)

a.py:30: error: It may fail. (lint, confidence 0.9)

src/ä b.py:9: warning: Wrong result. (lint r, confidence 0.5, to line 12)
    return x

3 findings: 1 error, 1 warning, 1 note
`)
  })

  it('filters, and says when there are none', async () => {
    expect(await findings('findings', runId, '--path', 'src')).toMatch(/^src.*\n1 finding: 1 warning\n$/s)
    expect(await findings('findings', runId, '--severity', 'note', '--agent', 'lint')).toMatch(/1 finding: 1 note\n$/)
    expect(await findings('findings', runId, '--agent', 'review')).toBe('no findings\n')
  })

  it('prints one JSON document, and writes it to a file', async () => {
    const printed = await findings('findings', runId, '--json')
    expect(JSON.parse(printed)).toMatchObject({ run_id: runId, findings: [{ line: 4 }, { line: 30 }, { line: 9 }] })
    expect(await findings('findings', runId, '--format', 'json', '-o', 'found.json')).toBe('')
    expect(await readFile(join(dir, 'found.json'), 'utf8')).toBe(printed)
  })

  it('prints SARIF with rules, levels, places and fingerprints', async () => {
    const { runs, version } = JSON.parse(await findings('findings', runId, '--format', 'sarif'))
    expect(version).toBe('2.1.0')
    expect(runs).toHaveLength(1)
    const [{ tool, results, automationDetails }] = runs
    expect(tool.driver).toMatchObject({ name: 'Remora', rules: [{ id: 'lint' }, { id: 'lint/r' }] })
    expect(automationDetails).toEqual({ id: `remora/${runId}` })
    const { operationId } = plannedOperation('one')
    expect(results[2]).toEqual({
      ruleId: 'lint/r',
      ruleIndex: 1,
      level: 'warning',
      message: { text: expect.stringContaining('result.') },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'src/%C3%A4%20b.py', uriBaseId: '%SRCROOT%' },
            region: { startLine: 9, endLine: 12 },
          },
        },
      ],
      partialFingerprints: { 'remoraFinding/v1': expect.stringMatching(/^[0-9a-f]{64}$/) },
      rank: 50,
      properties: { confidence: 0.5, agent: 'lint', operation_id: operationId },
    })
    expect(results.map(({ level, rank }: { level: string; rank: number }) => [level, rank])).toEqual([
      ['note', 50],
      ['error', 90],
      ['warning', 50],
    ])
  })

  it('is named by remora show', async () => {
    expect(await findings('show', runId)).toContain(`findings    3: remora findings ${runId}\n`)
  })
})
