import { apiReference } from './api-reference.ts'
import { cliReference } from './cli-reference.ts'
import { configReference } from './config-reference.ts'
import { errorReference } from './error-reference.ts'

/** The pages of docs/reference, each made from the code. */
export const references = {
  api: apiReference,
  cli: cliReference,
  config: configReference,
  errors: errorReference,
} as const
