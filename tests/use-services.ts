import { afterAll, beforeAll, expect } from 'vitest'
import { type OneProcess, type OneProcessOptions, startInOneProcess } from './one-process.ts'
import { openPrograms } from './program.ts'
import { type Services, type ServicesOptions, startServices, startStores, storeEnv, type Stores } from './services.ts'
import { type SourceFolder, sourceFolder } from './source-folder.ts'

// What is opened for the tests of a file, and closed after these. Options that read what an earlier hook has opened are a function.

type Given<T> = T | (() => T)

/** Starts stores, and services as processes of their own. */
export function useServices(options: Given<ServicesOptions | Promise<ServicesOptions>> = {}) {
  const programs = openPrograms()
  const open: { stores?: Stores; services?: Services } = {}
  beforeAll(async () => {
    open.stores = await startStores()
    open.services = await startServices(programs, open.stores, await valueOf(options))
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
  })
  const services = () => opened(open.services)
  return {
    programs,
    /** Has what a service reads to reach the stores. */
    get storeEnv() {
      return storeEnv(opened(open.stores))
    },
    get api() {
      return services().api
    },
    get token() {
      return services().token
    },
    named: (name: string) => services().named(name),
    startAgain: (name: string) => services().startAgain(name),
    /** Sets how the rehearsal model answers from now on. */
    async setModel(what: 'latency' | 'faults', settings: object): Promise<void> {
      const body = JSON.stringify(settings)
      const answer = await fetch(`${services().named('rehearsal').origin}/${what}`, { method: 'POST', body })
      expect(answer.status).toBe(200)
    },
    /** Expects that `remora verify` finds nothing wrong with a run. */
    async verify(runId: string): Promise<void> {
      const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(opened(open.stores)) })
      expect(await verify.exited, verify.out()).toBe(0)
    },
  }
}

/** Starts every service in this process. */
export function useOneProcess(options: Given<OneProcessOptions> = {}): Omit<OneProcess, 'close'> {
  const open: { services?: OneProcess } = {}
  beforeAll(async () => {
    open.services = await startInOneProcess(valueOf(options))
  })
  afterAll(() => open.services?.close())
  const services = () => opened(open.services)
  return {
    get api() {
      return services().api
    },
    get token() {
      return services().token
    },
    get stores() {
      return services().stores
    },
    get log() {
      return services().log
    },
    named: (name) => services().named(name),
    remora: (...call) => services().remora(...call),
    verify: (runId) => services().verify(runId),
    takeModelAway: () => services().takeModelAway(),
  }
}

/** Makes a folder with these files in it. */
export function useSourceFolder(files: Readonly<Record<string, string>>): Omit<SourceFolder, 'remove'> {
  const open: { folder?: SourceFolder } = {}
  beforeAll(async () => {
    open.folder = await sourceFolder(files)
  })
  afterAll(() => open.folder?.remove())
  const folder = () => opened(open.folder)
  return {
    get path() {
      return folder().path
    },
    read: (file) => folder().read(file),
    apply: (patch) => folder().apply(patch),
    pack: () => folder().pack(),
  }
}

function valueOf<T extends object>(given: Given<T>): T {
  return typeof given === 'function' ? given() : given
}

function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('it is opened when the tests begin')
  return part
}
