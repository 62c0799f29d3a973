import { chown } from 'node:fs/promises'

const somebodyElse = 65_534

/** Makes another user the owner of `path`. Where that may not be done, the answer says why, and the test is to be skipped. */
export async function giveAway(path: string): Promise<string | undefined> {
  try {
    await chown(path, somebodyElse, somebodyElse)
    return undefined
  } catch (error) {
    return `nothing can be given to another user here: ${String(error)}`
  }
}
