import { writeFileSync } from 'node:fs'
import { aclFile } from '#store/ledger/redis-users.ts'
import { references } from './reference/references.ts'

/** `node scripts/write-reference.ts`: writes the generated pages of docs/reference (references.ts) and the users of Redis; a house test compares them with the code. */
for (const [name, textOf] of Object.entries(references)) {
  writeFileSync(new URL(`../docs/reference/${name}.md`, import.meta.url), textOf())
}
writeFileSync(new URL('../infra/redis-users.acl', import.meta.url), aclFile())
