import type { ServerResponse } from 'node:http'

export function answerJson(
  response: ServerResponse,
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** An error in the shape of OpenAI's API. */
export function answerError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = status === 400 ? 'invalid_request_error' : 'server_error'
  answerJson(response, status, { error: { message, type, param: null, code: String(status) } }, headers)
}
