import { AskId } from '#domain/id-schemas.ts'
import { AskBody, AskReceived, AskView } from '#schemas/ask-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonCommand } from '../../http/endpoint.ts'

const askProse = `
A model answers from what has happened in the run, with or without an objective, while it goes on or when it has ended. What that costs counts as tokens of the
run and its project. The answer comes as \`ask.answered\` or \`ask.failed\`, and with \`GET\`.`

export const askEndpoints = {
  ask: endpoint('runs:write', ['RUN_001', 'RUN_005', 'INTAKE_003', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/asks',
    operationId: 'askRun',
    summary: 'Ask something about a run',
    description: askProse.trim(),
    request: { params: RunParams, ...jsonCommand(AskBody) },
    responses: { 202: jsonAnswer('it will be answered', AskReceived) },
  }),
  oneAsk: endpoint('runs:read', ['RUN_001', 'RUN_005', 'ASK_001', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/asks/{ask_id}',
    operationId: 'getAsk',
    summary: 'One thing that was asked about a run, with its answer',
    request: { params: RunParams.extend({ ask_id: AskId }) },
    responses: { 200: jsonAnswer('the ask', AskView) },
  }),
} as const
