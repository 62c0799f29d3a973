import { afterAll, beforeAll } from 'vitest'

/** What `open` opens before the first test of a file or a group, and what is closed behind the last; empty until then. */
export function useOpened<T extends { close(): Promise<unknown> }>(open: () => Promise<T>): T {
  const opened: T = Object.create(null)
  beforeAll(async () => void Object.assign(opened, await open()))
  afterAll(() => opened.close())
  return opened
}
