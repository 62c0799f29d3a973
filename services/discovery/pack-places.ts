import { z } from 'zod'
import { PackName } from '#domain/code-node.ts'
import type { PackPlaces } from './discover/query-pack.ts'

/** Which query packs are used: the same for the service, the embedded stack and the command line. */
export const packEnv = {
  REMORA_QUERY_PACK: PackName.default('default').describe('the query pack of each language that has one of this name'),
  REMORA_QUERIES_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('query packs that go before the built-in ones, per language'),
}

type PackValues = { REMORA_QUERY_PACK: string; REMORA_QUERIES_DIR?: string | undefined }

export function packPlaces({ REMORA_QUERY_PACK: name, REMORA_QUERIES_DIR: userDir }: PackValues): PackPlaces {
  return { name, ...(userDir === undefined ? {} : { userDir }) }
}
