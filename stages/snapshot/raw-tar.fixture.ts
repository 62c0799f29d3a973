/** One entry of a tar built by hand, so that tests can say what no honest packer writes. */
export type RawEntry = { name: string; type?: string; content?: Uint8Array | string; target?: string; size?: number }

const block = 512

/** A tar with correct checksums around whatever the entries say; `size` overrides the true length in the header. */
export function rawTar(entries: readonly RawEntry[], options: { end?: boolean } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '')
    return [header(entry, content.length), content, Buffer.alloc(-content.length & (block - 1))]
  })
  return Buffer.concat([...blocks, Buffer.alloc(options.end === false ? 0 : 2 * block)])
}

/** A pax record that says something about the next entry. */
export function paxRecord(key: string, value: string): RawEntry {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const length = bytes + String(bytes + String(bytes).length).length
  return { name: 'PaxHeader/x', type: 'x', content: `${length}${rest}` }
}

function header({ name, type = '0', target = '', size }: RawEntry, bytes: number): Buffer {
  const head = Buffer.alloc(block)
  head.write(name, 0, 100)
  head.write('0000644\0', 100)
  head.write('0000000\0', 108)
  head.write('0000000\0', 116)
  head.write(`${(size ?? bytes).toString(8).padStart(11, '0')}\0`, 124)
  head.write('00000000000\0', 136)
  head.write(' '.repeat(8), 148)
  head.write(type, 156)
  head.write(target, 157, 100)
  head.write('ustar\x0000', 257, 'latin1')
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return head
}
