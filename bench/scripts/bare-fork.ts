import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { montyCode } from '#tool-scripts/compiled-script.ts'
import { parseScript } from '#tool-scripts/parse-script.ts'
import { benchScripts, type BenchScript, type ScriptPeer } from './bench-scripts.ts'

const childFile = fileURLToPath(new URL('../peers/bare-monty.ts', import.meta.url))
const names: readonly BenchScript[] = ['line', 'external']

type FromChild = { id: number; value: unknown } | { id: number; args: unknown[] }

/** `size` forked processes with advanced serialization, used in turn. */
export async function openBareFork(size: number): Promise<ScriptPeer> {
  const children: ChildProcess[] = []
  const waiting = new Map<number, (value: unknown) => void>()
  for (let index = 0; index < size; index += 1) {
    const child = fork(childFile, { serialization: 'advanced' })
    for (const name of names) child.send({ code: montyCode(await parseScript(benchScripts[name])) })
    child.on('message', (sent: FromChild) => {
      if ('args' in sent) {
        child.send({ id: sent.id, answer: sent.args[0] })
        return
      }
      waiting.get(sent.id)?.(sent.value)
      waiting.delete(sent.id)
    })
    children.push(child)
  }
  let lastId = 0
  return {
    run(script, x) {
      const id = (lastId += 1)
      const { promise, resolve } = Promise.withResolvers<unknown>()
      waiting.set(id, resolve)
      children[id % size]?.send({ id, script: names.indexOf(script), x })
      return promise
    },
    async close() {
      const exited = children.map((child) => once(child, 'exit'))
      for (const child of children) child.disconnect()
      await Promise.all(exited)
    },
  }
}
