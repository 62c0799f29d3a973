/** `1 file`, `3 files`, `1,200 files`: for nouns that take an s. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}
