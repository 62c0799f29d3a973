export type AssistantMessage = {
  role: 'assistant'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}
