import { writeFileSync } from 'node:fs'
import { references } from './reference/references.ts'

/** `node scripts/write-reference.ts`: writes every page of docs/reference from the code; a house test compares them. */
for (const [name, textOf] of Object.entries(references)) {
  writeFileSync(new URL(`../docs/reference/${name}.md`, import.meta.url), textOf())
}
