import { expect, it } from 'vitest'
import { getBundle } from '#store/objects/stored-records.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openPreparedBundles } from '../agent/prepared-bundle.ts'
import { scriptedModel, submitting } from '../agent/scripted-agent.fixture.ts'
import { openOperationBench } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'

const bench = useOpened(openOperationBench)

/** The system message of the first request. */
async function systemMessage(toolGuide: boolean): Promise<string | null | undefined> {
  const planned = await bench.planned(await bench.bundle('lint'), 'def shelf(row):\n    return row\n', 'shelf')
  const model = scriptedModel([[submitting('skipped')]])
  const bundles = openPreparedBundles((owner, hash) => getBundle(bench.deps.objects, owner, hash), { toolGuide })
  await runOperation(planned.job, { ...bench.deps, model, bundles }, new AbortController().signal)
  return model.requests[0]?.messages[0]?.content
}

it('the system prompt ends with the tools in a line each where that is asked for, and is the same without', async () => {
  const plain = await systemMessage(false)
  const guided = (await systemMessage(true)) ?? ''
  expect(plain).not.toContain('Tools:')
  expect(guided.startsWith(`${plain?.trimEnd()}\n\nTools:\n- run_linter(`)).toBe(true)
  expect(guided).toMatch(/\n- submit_result\(status: "success" \| "failed" \| "skipped", [^\n]*$/)
})
