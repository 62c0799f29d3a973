import { apiReference } from './api-reference.ts'
import { configReference } from './config-reference.ts'
import { errorReference } from './error-reference.ts'

/** The pages of docs/reference, each made from the code. */
export const references = {
  api: apiReference,
  config: configReference,
  errors: errorReference,
} as const
