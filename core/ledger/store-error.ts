import { ZodError } from 'zod'
import { AppError } from '#domain/error.ts'
import { isReply } from '#platform/redis-reply.ts'

/** `work`, failing with STORE_001 where Redis cannot be reached or cannot do its work now; our own faults stay bare. */
export async function orStoreError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isOurs(error)) throw error
    throw new AppError('STORE_001', 'Redis cannot be reached or cannot take writes.', { cause: error })
  }
}

/** ioredis has no class for a lost connection, so what is known to be a fault of the code is told apart instead. */
function isOurs(error: unknown): boolean {
  const ourKinds = [AppError, ZodError, RangeError, SyntaxError, TypeError]
  return ourKinds.some((kind) => error instanceof kind) || isReply(error, 'ERR') || isReply(error, 'WRONGTYPE')
}
