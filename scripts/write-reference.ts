import { writeFileSync } from 'node:fs'
import { references } from './reference/references.ts'

/** `node scripts/write-reference.ts`: writes the generated pages of docs/reference (references.ts); a house test compares them with the code. */
for (const [name, textOf] of Object.entries(references)) {
  writeFileSync(new URL(`../docs/reference/${name}.md`, import.meta.url), textOf())
}
