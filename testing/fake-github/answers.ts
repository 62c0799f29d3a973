/** An answer with JSON, with bytes, or with nothing. */
export type Answer = {
  status: number
  body?: unknown
  bytes?: Uint8Array
  headers?: Record<string, string>
}

/** A list of which the server sends one page. */
export type Listing = { items: unknown[] }

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
export function refuse(status: number, message: string, ...errors: Problem[]): never {
  const body = { message, ...(errors.length > 0 && { errors }), documentation_url: 'https://docs.github.com/rest' }
  throw new Refusal({ status, body: { ...body, status: String(status) } }, message)
}

export const answer = (status: number, body?: unknown): Answer => ({ status, ...(body === undefined ? {} : { body }) })

export const notFound = (): never => refuse(404, 'Not Found')

export function found<T>(value: T | undefined): T {
  return value ?? notFound()
}
