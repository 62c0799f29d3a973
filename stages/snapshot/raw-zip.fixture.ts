import { crc32, deflateRawSync } from 'node:zlib'

/** The fields of one of an entry's two records; each may be given a wrong value. */
type RawFields = {
  name: Uint8Array | string
  flags: number
  method: number
  crc: number
  packed: number
  size: number
  extra: Uint8Array
}

/** One entry of a zip built by hand, so that tests can say what no honest packer writes. */
export type RawZipEntry = {
  name: Uint8Array | string
  content?: Uint8Array | string
  /** 0 stored, 8 deflated (as it is unless given); for others only the number is written. */
  method?: number
  /** Unix mode; 0 says nothing. */
  mode?: number
  /** 3 Unix, 0 DOS. */
  system?: number
  /** The packed bytes, instead of what `method` makes of the content. */
  packed?: Uint8Array
  /** Bytes after the packed bytes. */
  after?: Uint8Array
  local?: Partial<RawFields>
  central?: Partial<RawFields & { at: number }>
  /** Only in the directory: it has no record and no content of its own. */
  unplaced?: boolean
}

export type RawZipOptions = {
  before?: Uint8Array
  after?: Uint8Array
  comment?: string
  /** Instead of the number of entries there are. */
  count?: number
  disk?: number
  directoryAt?: number
  /** Counts and positions are in a zip64 record, with 0xffff in the ordinary one. */
  zip64?: boolean
}

/** A zip with right checksums, sizes and places around whatever the entries and options say. */
export function rawZip(entries: readonly RawZipEntry[], options: RawZipOptions = {}): Buffer {
  const parts: Buffer[] = [Buffer.from(options.before ?? '')]
  const directory: Buffer[] = []
  let at = parts[0]?.length ?? 0
  for (const entry of entries) {
    const { fields, body } = described(entry)
    directory.push(centralRecord(entry, { ...fields, at, ...entry.central }))
    if (entry.unplaced === true) continue
    const placed = Buffer.concat([localRecord({ ...fields, ...entry.local }), body, Buffer.from(entry.after ?? '')])
    parts.push(placed)
    at += placed.length
  }
  const end = endRecords(Buffer.concat(directory).length, at, entries.length, options)
  return Buffer.concat([...parts, ...directory, ...end, Buffer.from(options.after ?? '')])
}

function described({ name, content = '', method = 8, packed }: RawZipEntry): { fields: RawFields; body: Buffer } {
  const plain = Buffer.from(content)
  const body = Buffer.from(packed ?? (method === 8 ? deflateRawSync(plain) : plain))
  const utf8 = 0x800
  const counted = { crc: crc32(plain), packed: body.length, size: plain.length }
  return { fields: { name, flags: utf8, method, ...counted, extra: new Uint8Array() }, body }
}

function localRecord({ name, flags, method, crc, packed, size, extra }: RawFields): Buffer {
  const title = Buffer.from(name)
  return Buffer.concat([
    Buffer.from('PK\x03\x04'),
    words(20, flags, method, 0, 0),
    longs(crc, packed, size),
    words(title.length, extra.length),
    title,
    extra,
  ])
}

function centralRecord({ mode = 0o100644, system = 3 }: RawZipEntry, fields: RawFields & { at: number }): Buffer {
  const { name, flags, method, crc, packed, size, extra, at } = fields
  const title = Buffer.from(name)
  return Buffer.concat([
    Buffer.from('PK\x01\x02'),
    words((system << 8) | 30, 20, flags, method, 0, 0),
    longs(crc, packed, size),
    words(title.length, extra.length, 0, 0, 0),
    longs(mode * 0x10000, at),
    title,
    extra,
  ])
}

function endRecords(bytes: number, at: number, entries: number, options: RawZipOptions): Buffer[] {
  const { count = entries, disk = 0, directoryAt = at, zip64 = false, comment = '' } = options
  const text = Buffer.from(comment)
  const short = zip64 ? words(disk, disk, 0xffff, 0xffff) : words(disk, disk, count, count)
  const place = zip64 ? longs(0xffffffff, 0xffffffff) : longs(bytes, directoryAt)
  const end = Buffer.concat([Buffer.from('PK\x05\x06'), short, place, words(text.length), text])
  if (!zip64) return [end]
  const disks = longs(disk, disk)
  const sizes = Buffer.concat([count, count, bytes, directoryAt].map(wide))
  const record = Buffer.concat([Buffer.from('PK\x06\x06'), wide(44), words(45, 45), disks, sizes])
  return [record, Buffer.concat([Buffer.from('PK\x06\x07'), longs(0), wide(at + bytes), longs(1)]), end]
}

/** Of the sizes and the place, those an entry keeps in its zip64 field, in this order. */
export function zip64Field(...values: number[]): Buffer {
  return Buffer.concat([words(1, values.length * 8), ...values.map(wide)])
}

function words(...values: number[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.of(value & 0xff, (value >>> 8) & 0xff)))
}

function longs(...values: number[]): Buffer {
  return Buffer.concat(values.map((value) => words(value % 0x10000, Math.floor(value / 0x10000))))
}

function wide(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
