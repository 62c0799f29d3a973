import { isDeeperThan } from '#domain/json.ts'

/**
 * How deep the JSON of a reply may be nested. Servers' own lies six deep, and the arguments of tools a few more; what is
 * kept of a reply must be written as JSON again, which ends with the stack at some thousands.
 */
export const maxReplyDepth = 100

export function isTooDeep(reply: unknown): boolean {
  return isDeeperThan(reply, maxReplyDepth)
}
