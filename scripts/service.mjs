import { fileURLToPath } from 'node:url'
import { runsOnOwnNode } from '#platform/own-node.mjs'

// `node scripts/service.mjs api`: a service as a process of its own, on whatever Node there is.
const mains = {
  api: () => import('../services/api/main.ts'),
  discovery: () => import('../services/discovery/main.ts'),
  worker: () => import('../services/worker/main.ts'),
  rehearsal: () => import('../services/rehearsal/main.ts'),
}

const name = process.argv[2] ?? ''
const start = Object.entries(mains).find(([service]) => service === name)?.[1]
if (start === undefined) {
  process.stderr.write(`usage: node scripts/service.mjs ${Object.keys(mains).join(' | ')}\n`)
  process.exit(2)
}
if (runsOnOwnNode(fileURLToPath(import.meta.url))) await start()
