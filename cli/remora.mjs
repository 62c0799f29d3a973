#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runsOnOwnNode } from '#platform/own-node.mjs'

if (runsOnOwnNode(fileURLToPath(import.meta.url))) {
  // The npm package has no .ts files: scripts/build-package.ts made JavaScript of them.
  const isClone = existsSync(new URL('main.ts', import.meta.url))
  await import(isClone ? './main.ts' : '../dist/cli/main.js')
}
