import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/**
 * `run`: a request, with its run and project. `decision`: what a person has said of a change set, with the run. `publication`:
 * what was asked of the publisher, and what it has made. `delivery`: a checked webhook, with its time. `token`: its record, with
 * its hash.
 */
type Signed = 'run' | 'decision' | 'publication' | 'delivery' | 'token'

export type Signer = ReturnType<typeof openSigner>

/** One key, or two with a comma between them while they are changed: the first one signs, and both are accepted. */
export const SigningKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .pipe(z.array(z.string().min(32, 'must have at least 32 characters')).min(1).max(2, 'must be two keys at most'))

/**
 * Signs what the API and the publisher leave for each other in Redis, with a key that only they have. `texts` are what is
 * stored, byte for byte, and where, such as the id of the run. That an earlier state is put back there a signature cannot show.
 */
export function openSigner(keys: readonly string[]) {
  const [first = ''] = keys
  return {
    sign: (what: Signed, ...texts: readonly string[]): string => signatureOf(first, what, texts).toString('base64url'),
    isSigned(signature: string | undefined, what: Signed, ...texts: readonly string[]): boolean {
      const given = Buffer.from(signature ?? '', 'base64url')
      const right = keys.map((key) => signatureOf(key, what, texts))
      return right.some((bytes) => bytes.length === given.length && timingSafeEqual(bytes, given))
    },
  }
}

function signatureOf(key: string, what: Signed, texts: readonly string[]): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([what, ...texts]))
    .digest()
}
