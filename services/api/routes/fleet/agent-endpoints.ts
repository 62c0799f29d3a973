import { AgentPage } from '#schemas/agent-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

export const agentEndpoints = {
  list: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'The agents that runs can have, with their bundles',
    responses: { 200: jsonAnswer('all of them, by name', AgentPage) },
  }),
} as const
