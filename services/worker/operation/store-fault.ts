import type { AppError } from '#domain/error.ts'

/** Whether trying again later may do: a store out of reach, not an object that is wrong. */
export function isStoreFault(fault: AppError): boolean {
  return fault.code === 'STORE_001' || fault.code === 'STORE_002'
}
