import { describe, expect, it } from 'vitest'
import { storeNodes, submitRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const skipped = [{ path: 'vendor/a.py', reason: 'vendored' }]
const withoutWork = [{ reason: 'no lint fault', count: 1991, examples: ['src/a.py', 'src/b.py:4 f'] }]
const lint = {
  lookedAt: 1994,
  planned: 1,
  mechanical: 2,
  estimatedTokens: 1200,
  skipped: withoutWork,
  folders: [{ path: 'src', planned: 3, estimatedTokens: 1200 }],
}

describe('GET /v1/runs/{run_id}/plan', () => {
  it('shows per agent what is planned, where, and what is left out and why', async () => {
    const runId = await submitRun(api)
    const found = { skipped, agents: { lint }, notices: ['no model is asked'], nodesLookedAt: 1994, beyondLimit: 4 }
    await storeNodes(api, runId, [], found)
    const answer = await api.ask(`/v1/runs/${runId}/plan`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      nodes_looked_at: 1994,
      beyond_limit: 4,
      agents: {
        lint: {
          looked_at: 1994,
          planned: 1,
          mechanical: 2,
          estimated_tokens: 1200,
          skipped: withoutWork,
          folders: [{ path: 'src', planned: 3, estimated_tokens: 1200 }],
        },
      },
      skipped_files: skipped,
      notices: ['no model is asked'],
    })
  })

  it('has none before the run is planned', async () => {
    const runId = await submitRun(api)
    const answer = await api.ask(`/v1/runs/${runId}/plan`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_004', run_id: runId })
  })
})
