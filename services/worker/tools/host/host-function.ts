/** Arguments in the order of the declared parameters; an absent optional one is undefined or null. */
export type HostFunction = (args: readonly unknown[]) => Promise<unknown>
