export { leanMemory } from './lean-memory.mjs'
