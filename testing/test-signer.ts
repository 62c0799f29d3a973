import { openSigner } from '#platform/signer.ts'

/** The REMORA_SIGNING_KEY of the services that tests start. */
export const testSigningKey = 'the-signing-key-of-all-the-tests'

export const testSigner = openSigner([testSigningKey])
