import { z } from 'zod'
import { sha256 } from '#domain/hash.ts'
import { ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { TokenId } from './token-record.ts'

/** A kept token whose record is damaged, or of a version this one cannot read. It grants nothing, and can be revoked. */
export type UnreadableToken = {
  /** The record's own where that much can be read, else one that stands for its hash. */
  tokenId: TokenId
  /** Undefined when that cannot be read either: it is then anybody's who manages tokens. */
  projectId: ProjectId | undefined
}

const Legible = z
  .object({ tokenId: TokenId.optional().catch(undefined), projectId: ProjectId.optional().catch(undefined) })
  .catch({})

/** What can be said of a record that is none, kept under `hash`. The same every time. */
export function unreadableToken(hash: string, text: string): UnreadableToken {
  const { tokenId = `t${sha256(`unreadable\0${hash}`).slice(0, 16)}`, projectId } = Legible.parse(parseJson(text))
  return { tokenId, projectId }
}
