import type { Message } from '#domain/turn.ts'

/**
 * Gives ids to the calls of a reply: the server's own where it is one that no other call of the conversation has, else
 * `call00001` and so on, behind those that were given before. Servers pair results with calls by them, and Mistral's
 * take only nine letters and digits.
 */
export function openCallIds(messages: readonly Message[]): (given: string | null | undefined) => string {
  const used = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.toolCalls) used.add(call.id)
  }
  let count: number | undefined
  const next = () => {
    count = 1 + (count ?? lastNumber(used))
    return `call${String(count).padStart(5, '0')}`
  }
  return (given) => {
    let id = given === undefined || given === null || given === '' ? next() : given
    while (used.has(id)) id = next()
    used.add(id)
    return id
  }
}

function lastNumber(ids: ReadonlySet<string>): number {
  let last = 0
  for (const id of ids) {
    const number = /^call(\d{5,9})$/.exec(id)?.[1]
    if (number !== undefined) last = Math.max(last, Number(number))
  }
  return last
}
