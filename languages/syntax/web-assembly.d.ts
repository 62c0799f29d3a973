/** The part that we use: TypeScript declares it only together with all of a browser's types. */
declare namespace WebAssembly {
  class Memory {
    /** Takes its limits in pages of 64 KiB. */
    constructor(limits: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
  }
}
