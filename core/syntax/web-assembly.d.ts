/** What we use of it: TypeScript declares it only together with everything else of a browser. */
declare namespace WebAssembly {
  class Memory {
    /** In pages of 64 KiB. */
    constructor(limits: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
  }
}
