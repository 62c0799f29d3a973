import { writeFileSync } from 'node:fs'
import { errorReference } from './error-reference.ts'

/** Writes docs/reference/errors.md from the table in the code; a house test compares the two. */
writeFileSync(new URL('../docs/reference/errors.md', import.meta.url), errorReference())
