import { APIError } from 'openai'
import { isRecord } from '#domain/json.ts'
import { AppError } from '#domain/error.ts'

/** Statuses that servers say in words where they give no number. */
const statusWords: readonly [RegExp, number][] = [
  [/rate_?limit|too_?many|overloaded|capacity|quota/i, 429],
  [/context|invalid_?request|bad_?request/i, 400],
  [/unavailable/i, 503],
]

/**
 * The error a server has put where its answer, or a part of a stream, should be: `{"error": {"message", "type", "code"}}`,
 * `{"error": "text"}` or vLLM's older `{"object": "error", …}`. With a status it is what that status would have been,
 * else AGENT_008. Undefined when the value is none. Whatever a server has put where text or a number belongs, it never throws,
 * as long as it is JSON that is not `isTooDeep`. `shown` makes of what was said what may be told.
 */
export function serverError(value: unknown, shown: (said: unknown) => unknown): Error | undefined {
  if (!isRecord(value)) return undefined
  const { error: said = value['object'] === 'error' ? value : undefined } = value
  if (said === undefined || said === null) return undefined
  const error = shown(said)
  const status = statusOf(error)
  if (status !== undefined) return APIError.generate(status, { error }, undefined, new Headers())
  const words = isRecord(error) ? error['message'] : error
  const message = typeof words === 'string' ? words : JSON.stringify(error)
  return new AppError('AGENT_008', `the server broke off: ${message.slice(0, 500)}`, { phase: 'model' })
}

function statusOf(error: unknown): number | undefined {
  if (!isRecord(error)) return undefined
  const { code, status, type } = error
  const number = [code, status].map(asNumber).find((given) => given >= 400 && given < 600)
  const words = [code, type].filter((word) => typeof word === 'string').join(' ')
  return number ?? statusWords.find(([word]) => word.test(words))?.[1]
}

function asNumber(given: unknown): number {
  return typeof given === 'string' || typeof given === 'number' ? Number(given) : Number.NaN
}
