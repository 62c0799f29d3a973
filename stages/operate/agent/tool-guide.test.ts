import { expect, it } from 'vitest'
import { submitTool } from '#bundles/tool-definition.ts'
import { toolGuide, withToolGuide } from './prepared-bundle.ts'

const level = { type: 'string', enum: ['debug', 'info'] }
const address = {
  type: 'object',
  properties: { host: { type: 'string' }, port: { type: 'integer' } },
  required: ['host'],
}
const labels = { type: 'array', items: { type: 'string' } }
const parameters = { type: 'object', properties: { level, address, labels }, required: ['level', 'address'] }

it('lists the tools in a line each, with what they take', () => {
  const guide = toolGuide([{ name: 'set_up', description: 'Set it up.', parameters }, submitTool])
  expect(guide).toBe(
    `Tools:
- set_up(level: "debug" | "info", address: { host: string, port?: integer }, labels?: list of string): Set it up.
- submit_result(status: "success" | "failed" | "skipped", summary: string, changed_files?: list of string, details?: object, error?: string): Submit the result and end the work. Call it once, as the last call.`,
  )
  expect(withToolGuide('You work.\n', guide)).toBe(`You work.\n\n${guide}`)
})
