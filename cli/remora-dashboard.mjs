#!/usr/bin/env node
// `remora-dashboard` is `remora dashboard`.
process.argv.splice(2, 0, 'dashboard')
await import('./remora.mjs')
