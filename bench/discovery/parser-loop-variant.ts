import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { reportVariant } from './report-variant.ts'

/** A bare loop around web-tree-sitter on all cores: no rules of git, no checks, no ids. What the parser itself costs. */
const [root = '.'] = process.argv.slice(2)
const filesAtOnce = 64

await reportVariant(async () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.py'))
    .toSorted()
    .map((path) => join(root, path))
  const left = [...files]
  let nodes = 0
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      const worker = new Worker(new URL('./parser-loop-thread.ts', import.meta.url))
      while (left.length > 0) {
        const found = await ask(worker, left.splice(0, filesAtOnce))
        nodes += found
      }
      await worker.terminate()
    }),
  )
  return { files: files.length, nodes }
})

async function ask(worker: Worker, files: readonly string[]): Promise<number> {
  const answer = once(worker, 'message')
  worker.postMessage(files)
  const [found]: readonly unknown[][] = await answer
  return found?.length ?? 0
}
