import type S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'

const ownAccessKeyId = 'S3RVER'
const denied =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'

/**
 * Lets only those in who sign with these keys. The embedded server checks signatures, but has an account of its own whose
 * keys everybody knows, and serves who does not sign at all; a preflight is not signed, and nobody sends one here.
 */
export function lockS3rver(server: S3rver, keys: { accessKeyId: string; secretAccessKey: string }): void {
  account.DUMMY_ACCOUNT.revokeAccessKey(ownAccessKeyId)
  account.DUMMY_ACCOUNT.createKeyPair(keys.accessKeyId, keys.secretAccessKey)
  server.middleware.unshift(async (context, next) => {
    if (context.method !== 'OPTIONS' && context.headers['authorization'] !== undefined) return next()
    context.status = 403
    context.type = 'application/xml'
    context.body = denied
  })
}
