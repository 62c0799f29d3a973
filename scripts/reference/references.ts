import { cliReference } from './cli-reference.ts'

/** The pages of docs/reference, each made from the code. */
export const references = {
  cli: cliReference,
} as const
