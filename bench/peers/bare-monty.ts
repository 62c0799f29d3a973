import { Monty, MontyComplete, MontySnapshot } from '@pydantic/monty'

/** The yardstick: a script run in a forked process with nothing around it: no validation, no limits, no printed text. */
type Message = { code: string } | { id: number; script: number; x: number } | { id: number; answer: number }
const scripts: Monty[] = []
const waiting = new Map<number, MontySnapshot>()

function go(id: number, first: ReturnType<Monty['start']>): void {
  let progress = first
  while (!(progress instanceof MontySnapshot || progress instanceof MontyComplete)) progress = progress.resume()
  if (progress instanceof MontyComplete) {
    process.send?.({ id, value: progress.output })
    return
  }
  waiting.set(id, progress)
  process.send?.({ id, args: progress.args })
}

process.on('message', (sent: Message) => {
  if ('code' in sent) {
    scripts.push(new Monty(sent.code, { inputs: ['x'] }))
    return
  }
  if ('script' in sent) {
    const script = scripts[sent.script]
    if (script !== undefined) go(sent.id, script.start({ inputs: { x: sent.x } }))
    return
  }
  const snapshot = waiting.get(sent.id)
  waiting.delete(sent.id)
  if (snapshot !== undefined) go(sent.id, snapshot.resume({ returnValue: sent.answer }))
})
