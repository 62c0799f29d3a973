import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { crc32 } from 'node:zlib'
import { boundPort } from '#platform/http-health.ts'
import { gzippedTar } from '#platform/gzipped-tar.ts'

export type PackageRegistry = {
  /** Without a slash at its end. */
  url: string
  /** What tells pip and npm to use it, for `setup.variables`. */
  variables: Record<string, string>
  /** The paths that were asked for. */
  asked: string[]
  close(): Promise<void>
}

/** A registry of this machine with one package for Python, `shout`, and one for Node, `loud`: each makes a text loud. */
export async function startPackageRegistry(): Promise<PackageRegistry> {
  const asked: string[] = []
  const packages = await openPackages()
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const found = packages(request.url ?? '', `http://${request.headers.host ?? ''}`)
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': found?.type ?? 'text/plain' })
    response.end(found?.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${boundPort(server)}`
  return {
    url,
    variables: { PIP_INDEX_URL: `${url}/simple`, PIP_TRUSTED_HOST: '127.0.0.1', npm_config_registry: `${url}/` },
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Found = { type: string; body: string | Uint8Array }

async function openPackages() {
  const wheel = 'shout-1.0-py3-none-any.whl'
  const python = zipOf({
    'shout.py': 'def shout(text):\n    return text.upper() + "!"\n',
    'shout-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n',
    'shout-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'shout-1.0.dist-info/RECORD': '',
  })
  const files = {
    'package/package.json': JSON.stringify({ name: 'loud', version: '1.0.0', main: 'index.js' }),
    'package/index.js': 'exports.loud = (text) => text.toUpperCase()\n',
  }
  const items = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text), executable: false }))
  const node = Buffer.concat(await Array.fromAsync(gzippedTar(stream(items))))
  const integrity = `sha512-${createHash('sha512').update(node).digest('base64')}`
  return (path: string, origin: string): Found | undefined => {
    if (path.startsWith('/simple/shout')) return { type: 'text/html', body: `<a href="/files/${wheel}">${wheel}</a>` }
    if (path === `/files/${wheel}`) return { type: 'application/zip', body: python }
    if (path === '/loud/-/loud-1.0.0.tgz') return { type: 'application/octet-stream', body: node }
    if (path !== '/loud') return undefined
    const dist = { tarball: `${origin}/loud/-/loud-1.0.0.tgz`, integrity }
    const versions = { '1.0.0': { name: 'loud', version: '1.0.0', dist } }
    return {
      type: 'application/json',
      body: JSON.stringify({ name: 'loud', 'dist-tags': { latest: '1.0.0' }, versions }),
    }
  }
}

async function* stream<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

/** Without compression. */
function zipOf(files: Readonly<Record<string, string>>): Uint8Array {
  const [local, central]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, text] of Object.entries(files)) {
    const [path, content] = [Buffer.from(name), Buffer.from(text)]
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x21, 8) // 1 January 1980
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(path.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, content])
    central.push(Buffer.from('PK\x01\x02\x14\0'), common, tail, path)
    local.push(entry)
    at += entry.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...local, directory, end])
}
