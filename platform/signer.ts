import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/**
 * Names what is signed. `run`: a request, with its run and project. `decision`: what a person has said of a change set,
 * with the run that keeps it. `publication`: what was asked of the publisher for a run, and what it has made. `delivery`:
 * a webhook that the API has checked, with the time of its arrival. `token`: the record of a token, with its hash.
 */
type Signed = 'run' | 'decision' | 'publication' | 'delivery' | 'token'

export type Signer = ReturnType<typeof openSigner>

/** One key, or two with a comma between them while they are changed: the first one signs, and both are accepted. */
export const SigningKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .pipe(z.array(z.string().min(32, 'must have at least 32 characters')).min(1).max(2, 'must be two keys at most'))

/**
 * Signs what the API and the publisher leave for each other in Redis, with a key that only these two have. Whoever else writes there can make no
 * signature. `texts` are those that are stored, byte for byte, and what says where they are stored, such as the id of the run: a signature fits
 * nowhere else. That an earlier state is put back in the same place a signature cannot show.
 */
export function openSigner(keys: readonly string[]) {
  const [first = ''] = keys
  return {
    sign: (what: Signed, ...texts: readonly string[]): string => signatureOf(first, what, texts).toString('base64url'),
    isSigned(signature: string | undefined, what: Signed, ...texts: readonly string[]): boolean {
      const given = Buffer.from(signature ?? '', 'base64url')
      const right = keys.map((key) => signatureOf(key, what, texts))
      return right.some((one) => one.length === given.length && timingSafeEqual(one, given))
    },
  }
}

function signatureOf(key: string, what: Signed, texts: readonly string[]): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([what, ...texts]))
    .digest()
}
