import { SessionView } from '#schemas/session-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const beginProse = `
Has the browser keep the token of the header as a cookie that no script reads (\`HttpOnly\`, \`SameSite=Strict\`). With the cookie a request that changes
something needs the header \`x-remora-page\` with the id of the token, and a WebSocket the \`Origin\` of the page.`

export const sessionEndpoints = {
  begin: endpoint('runs:read', [], {
    method: 'post',
    path: '/v1/session',
    operationId: 'setSession',
    summary: 'Keep the token in the browser',
    description: beginProse.trim(),
    responses: { 200: jsonAnswer('whose token it is', SessionView) },
  }),
  read: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/session',
    operationId: 'getSession',
    summary: 'Whose token this is',
    responses: { 200: jsonAnswer('whose it is', SessionView) },
  }),
  end: endpoint('runs:read', [], {
    method: 'delete',
    path: '/v1/session',
    operationId: 'deleteSession',
    summary: 'Have the browser forget the token',
    responses: { 204: { description: 'it is forgotten' } },
  }),
} as const
