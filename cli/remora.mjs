#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runsOnOwnNode } from '#platform/own-node.mjs'

/** Commands that hold the files of a repository, or last: for the others a second start of Node costs more than its memory. */
const large = new Set(['run', 'retry', 'up', 'dashboard', 'discover', 'queries', 'tool', 'harness'])
const isBrief = !process.argv.some((arg) => large.has(arg))

if (process.argv.length === 3 && process.argv[2] === '--version') {
  // Works on every Node.
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.log(version)
} else if (runsOnOwnNode(fileURLToPath(import.meta.url), { isBrief })) {
  // The npm package has no .ts files: scripts/build-package.ts made a bundle of them.
  const isClone = existsSync(new URL('main.ts', import.meta.url))
  await import(isClone ? './main.ts' : '../dist/cli/main.js')
}
