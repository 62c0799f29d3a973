import { constants, open } from 'node:fs/promises'

const othersMayRead = 0o044
const othersMayWrite = 0o022

/**
 * The text of a file (no link) that this user wrote and nobody else can write; empty when it is not there or not that.
 * What git checks out is usually readable by others: what only we write need not be.
 */
export async function readOwnFile(path: string, allowed: { othersMayRead: boolean }): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined)
  if (file === undefined) return ''
  try {
    const { uid, mode } = await file.stat()
    const forbidden = allowed.othersMayRead ? othersMayWrite : othersMayRead | othersMayWrite
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & forbidden) !== 0)) return ''
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
