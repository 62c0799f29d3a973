import { expect, it } from 'vitest'
import { reportLearning } from './externals.ts'

it('takes an insight once, however it is written and whichever attempt it was, and five of an operation', async () => {
  const report = reportLearning([])
  const first = await report(['Both  parsers differ.', 0.5])
  expect(first).toEqual({ reported: true, learning: { insight: 'Both  parsers differ.', confidence: 0.5 } })
  expect(await report(['both parsers DIFFER.', 1])).toMatchObject({ reported: false })
  const later = reportLearning([{ name: 'report_learning', args: [], answer: first }])
  expect(await later(['Both parsers differ.', 1])).toMatchObject({ reported: false })
  for (const count of [2, 3, 4, 5]) await report([`insight ${count}`, 1])
  await expect(report(['one more', 1])).rejects.toThrow('at most 5 learnings')
  await expect(report([' ', 1])).rejects.toThrow('insight must have 1 to 1000 characters')
  await expect(report(['sure', 90])).rejects.toThrow('confidence be a number from 0 to 1')
})
