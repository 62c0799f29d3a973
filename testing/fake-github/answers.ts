/** An answer with JSON, with bytes, or with nothing. */
export type Answer = {
  status: number
  body?: unknown
  bytes?: Uint8Array
  headers?: Record<string, string>
}

/** A list of which the server sends one page. `wrap` makes the body of it, where that is not the bare list. */
export type Listing = { items: unknown[]; wrap?: (page: unknown[]) => unknown }

/** Something that GitHub refuses; handlers throw it. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer, message: string) {
    super(message)
    this.answer = answer
  }
}

type Problem = { resource?: string; field?: string; code: string; message?: string }

/** Answers in GitHub's form of an error. */
export function refuse(
  status: number,
  message: string,
  more: { errors?: Problem[]; headers?: Record<string, string> } = {},
): never {
  const { errors, headers = {} } = more
  const details = errors === undefined ? {} : { errors }
  const body = { message, ...details, documentation_url: 'https://docs.github.com/rest', status: String(status) }
  throw new Refusal({ status, body, headers }, message)
}

export const answer = (status: number, body?: unknown): Answer => ({ status, ...(body === undefined ? {} : { body }) })

/** A file as it is; clients take it for text, as they do that of GitHub. */
export function rawAnswer(bytes: Uint8Array): Answer {
  return { status: 200, bytes, headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' } }
}

export const notFound = (): never => refuse(404, 'Not Found')

export function found<T>(value: T | undefined): T {
  return value ?? notFound()
}
