import { hash } from 'node:crypto'

/** Lower-case hex SHA-256, the name of every content-addressed object. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}
