import { readSignatures, type ExternalSignature } from './external-signature.ts'
import { hostSignatures } from './host-signatures.ts'

/** The signatures of what the host offers to scripts, by name, for E013. */
export async function hostExternals(): Promise<ReadonlyMap<string, ExternalSignature>> {
  const stubs = Object.entries(hostSignatures).map(
    ([name, signature]) => `@external\nasync def ${name}${signature}: ...\n`,
  )
  return readSignatures(stubs.join(''))
}
