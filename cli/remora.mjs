#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { runsOnOwnNode } from '../core/platform/own-node.mjs'

if (runsOnOwnNode(fileURLToPath(import.meta.url))) await import('./main.ts')
