import { expect, it } from 'vitest'
import { submitTool } from '#bundles/submit-tool.ts'
import { toolGuide } from './tool-guide.ts'
import { enumShape } from './shapes/enum-shape.ts'
import { listShape } from './shapes/list-shape.ts'
import { objectShape } from './shapes/object-shape.ts'

it('lists the tools in a line each, with what they take', () => {
  const shapes = [enumShape, listShape, objectShape]
  expect(toolGuide([...shapes.flatMap(({ tools }) => tools), submitTool])).toBe(
    `Tools:
- set_log_level(level: "debug" | "info" | "warning" | "error"): Set from which level on messages are logged.
- add_labels(labels: list of string): Add labels to the open issue.
- register_server(server: { name: string, address: { host: string, port: integer } }): Register a server.
- submit_result(status: "success" | "failed" | "skipped", summary: string, changed_files?: list of string, details?: object, error?: string): Submit the result and end the work. Call it once, as the last call.`,
  )
})
