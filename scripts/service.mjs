import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runsOnOwnNode } from '#platform/own-node.mjs'

// `node scripts/service.mjs api`: a service as a process of its own, on whatever Node there is.
const services = ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher', 'rehearsal']

const name = process.argv[2] ?? ''
if (!services.includes(name)) {
  process.stderr.write(`usage: node scripts/service.mjs ${services.join(' | ')}\n`)
  process.exit(2)
}
if (runsOnOwnNode(fileURLToPath(import.meta.url))) {
  // Until the service listens itself: the first process of a container loses a signal that nobody listens to.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
  // The npm package has JavaScript in dist/ instead of the sources (scripts/build-package.ts).
  const isClone = existsSync(new URL('../services', import.meta.url))
  await import(isClone ? `../services/${name}/main.ts` : `../dist/services/${name}/main.js`)
}
