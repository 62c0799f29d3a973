import { writeFileSync } from 'node:fs'
import { apiReference } from './api-reference.ts'

const pages: Readonly<Record<string, () => string>> = { api: apiReference }
const named = process.argv.slice(2)

/** Writes the pages of docs/reference that are made from the code, those named or all; house tests compare them. */
for (const name of named.length > 0 ? named : Object.keys(pages)) {
  const page = pages[name]
  if (page === undefined) throw new Error(`no page "${name}"; there are: ${Object.keys(pages).join(', ')}`)
  writeFileSync(new URL(`../docs/reference/${name}.md`, import.meta.url), page())
}
