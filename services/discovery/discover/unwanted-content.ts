import { isUtf8 } from 'node:buffer'

const binaryProbeBytes = 8192
const markerProbeBytes = 4096
const minifiedMinBytes = 5000
const minifiedMeanLine = 500

/** A generator's mark in a comment: the `@generated` convention, and the line Go's tools agree on. */
const generatedMark = /^\s*(?:#|\/\/|\/\*|\*|<!--|--|;|%).*(?:(?<!`)@generated\b|\bcode generated\b.*\bdo not edit\b)/im
const markerLines = 10

/** Why a file's content is not source that people edit, or undefined. Looks at bytes only, not at the path. */
export function unwantedContent(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return 'binary'
  // Models and change sets speak UTF-8; a file in another encoding could not be edited without damage.
  if (!isUtf8(bytes)) return 'not UTF-8'
  if (isMarkedGenerated(bytes)) return 'generated: its first lines say so'
  if (isMinified(bytes)) return `minified: lines of over ${minifiedMeanLine} bytes on average`
  return undefined
}

function isMarkedGenerated(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, markerProbeBytes)).toString('latin1')
  return generatedMark.test(head.split('\n', markerLines).join('\n'))
}

function isMinified(bytes: Uint8Array): boolean {
  if (bytes.length < minifiedMinBytes) return false
  let lines = 1
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
  return bytes.length / lines > minifiedMeanLine
}
