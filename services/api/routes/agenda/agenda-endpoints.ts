import { ApprovalBody, DecisionTalk, MessageBody, RunAgenda, SentToConductor } from '#schemas/agenda-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonCommand } from '../../http/endpoint.ts'
import { wholeNumber } from '../../http/schema-parts.ts'

const agendaProse = `
The items of the plan with what became of each, and the decisions that made it so, with their reasons and the events that they rest on. Before
the first decision there are no items. RUN_012 for a run that was asked for by its agents alone.`

const messageProse = `
The conductor of the run reads it at its next step, and may change the objective and the items that have not begun: the agenda and the event
\`objective.refined\` show that. RUN_012 for a run without an objective, RUN_006 before its code is discovered, RUN_007 when nothing is decided in it any more.`

const approvalProse = `
Approves the plan of a run that was submitted with \`approval: "plan"\`. \`plan_hash\` is that of the agenda which was looked at: RUN_011 when the plan has
changed since, or waits for no approval. Approving it again changes nothing.`

export const agendaEndpoints = {
  agenda: endpoint('runs:read', ['RUN_001', 'RUN_005', 'RUN_012', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/agenda',
    operationId: 'getAgenda',
    summary: 'What a run with an objective plans, does and has done, and why',
    description: agendaProse.trim(),
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the agenda', RunAgenda) },
  }),
  talk: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'RUN_012', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/agenda/decisions/{seq}',
    operationId: 'getDecisionTalk',
    summary: 'What a decision about the agenda knew: all that its model was told, and answered',
    description: 'RUN_004 for what is no decision of a model.',
    request: { params: RunParams.extend({ seq: wholeNumber(1, 1e15 - 1) }) },
    responses: { 200: jsonAnswer('what was said', DecisionTalk) },
  }),
  message: endpoint('runs:write', ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_007', 'RUN_012', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/messages',
    operationId: 'tellConductor',
    summary: 'Add to the objective of a run while it goes on',
    description: messageProse.trim(),
    request: { params: RunParams, ...jsonCommand(MessageBody) },
    responses: { 202: jsonAnswer('it is sent', SentToConductor) },
  }),
  approval: endpoint('runs:write', ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_007', 'RUN_011', 'RUN_012', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/approval',
    operationId: 'approvePlan',
    summary: 'Approve the plan of a run',
    description: approvalProse.trim(),
    request: { params: RunParams, ...jsonCommand(ApprovalBody) },
    responses: { 202: jsonAnswer('it is sent', SentToConductor) },
  }),
} as const
