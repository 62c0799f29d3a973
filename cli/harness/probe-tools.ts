import { submitTool } from '#bundles/submit-tool.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import type { ToolSet } from '../../services/worker/tools/tool-set.ts'

/** Tools that do nothing and say that it went well, so that all an agent does is its model's doing. */
export function probeTools(definitions: readonly ToolDefinition[]): ToolSet {
  const tools = new Map(definitions.map((definition) => [definition.name, doneTool(definition)]))
  return { definitions: [...definitions, submitTool], get: (name) => tools.get(name) }
}

function doneTool(definition: ToolDefinition) {
  const done = async () => ({
    kind: 'done' as const,
    result: {
      outcome: 'success' as const,
      result: { done: true },
      summary: `${definition.name}: done`,
      knowledgeDelta: {},
    },
    externals: [],
  })
  return { definition, effects: 'reads' as const, run: done, resume: done }
}
