import { expect } from 'vitest'
import { z } from 'zod'
import type { TestApi } from '../../app.fixture.ts'
import { plannedOperation, type PlayedEnding, playOperations } from '../../played-run.fixture.ts'

const Named = z.looseObject({
  qualified_name: z.string(),
  verdict: z.string(),
  change_set_id: z.string(),
  because_of: z.string().optional(),
  decision: z.looseObject({ reason: z.string().nullable(), note: z.string().optional() }).nullable(),
})
const Refused = z.looseObject({
  error_code: z.string(),
  detail: z.string(),
  blocked_by: z.array(z.looseObject({ qualified_name: z.string(), verdict: z.string() })).optional(),
})
const Answer = z.looseObject({ decisions: z.array(Named).default([]), refused: z.array(Refused).default([]) })
const Change = z.looseObject({
  ...Named.shape,
  generation: z.int(),
  is_redone: z.boolean(),
  built_on: z.array(z.string()).optional(),
})
const Page = z.object({ changes: z.array(Change) })

export type PlayedReview = ReturnType<typeof openPlayedReview>

/** What tests ask of the API about the change sets of played runs. */
export function openPlayedReview(api: TestApi) {
  const post = (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    return api.ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async function decide(runId: string, body: object): Promise<z.infer<typeof Answer>> {
    const answer = await post(`/v1/runs/${runId}/decisions`, body)
    expect([200, 409]).toContain(answer.status)
    return Answer.parse(await answer.json())
  }

  async function changes(runId: string): Promise<z.infer<typeof Change>[]> {
    const found: z.infer<typeof Change>[] = []
    for (let from: string | null = ''; from !== null;) {
      const answer = await api.ask(`/v1/runs/${runId}/changes?limit=100${from}`)
      const { next, changes: some } = Page.extend({ next: z.string().nullable() }).parse(await answer.json())
      found.push(...some)
      from = next === null ? null : `&cursor=${next}`
    }
    return found
  }

  async function changesOf(runId: string, operationId: string): Promise<z.infer<typeof Change>[]> {
    const answer = await api.ask(`/v1/runs/${runId}/changes?operation_id=${operationId}`)
    return Page.parse(await answer.json()).changes
  }

  async function retry(former: string, body: object = {}): Promise<string> {
    const answer = await post(`/v1/runs/${former}/retry`, body)
    expect(answer.status).toBe(202)
    return z.looseObject({ run_id: z.string() }).parse(await answer.json()).run_id
  }

  return {
    decide,
    changes,
    changesOf,
    retry,
    /** By the name of what was changed. */
    verdicts: async (runId: string) =>
      Object.fromEntries((await changes(runId)).map(({ qualified_name: name, verdict }) => [name, verdict])),
    /** Reopens the run for the operations of these endings, and plays them so. */
    async retried(former: string, endings: readonly PlayedEnding[]): Promise<string> {
      const operations = endings.map(({ name }) => plannedOperation(name).operationId)
      const runId = await retry(former, { operations })
      await playOperations(api, runId, endings)
      return runId
    },
  }
}
