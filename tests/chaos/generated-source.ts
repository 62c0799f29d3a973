import type { Random } from '#platform/seeded-random.ts'

/** A small Python repository: file → text. */
export type GeneratedSource = Readonly<Record<string, string>>

/** Bodies with something for the linter to mend, and some without. */
const bodies = [
  'return f"price"',
  'return f"shelf" + str(1)',
  'if not 1 in items:\n        return None\n    return items',
  'total = 0\n    for item in items:\n        total += item\n    return total',
  'return [item for item in items if item]',
  'return "größe"',
] as const

/** 8 to 25 functions and methods over one to three files; some are clean, so that nothing is to be done about them. */
export function generateSource(random: Random): GeneratedSource {
  const functions = random.int(8, 25)
  const fileCount = random.int(1, 3)
  const files: Record<string, string> = { 'README.md': '# generated\n' }
  for (let file = 0; file < fileCount; file += 1) {
    const share = Math.floor((functions + file) / fileCount)
    files[`shop/part_${file}.py`] = pythonFile(random, share)
  }
  return files
}

function pythonFile(random: Random, functions: number): string {
  const head = random.chance(0.4) ? ['import os'] : []
  const inClass = random.chance(0.5) ? random.int(0, Math.min(4, functions - 1)) : 0
  const free = Array.from({ length: functions - inClass }, (_none, at) => pythonFunction(random, `price_${at}`))
  const methods = Array.from({ length: inClass }, (_none, at) => pythonFunction(random, `count_${at}`, 'self, '))
  const body = methods.map((method) => method.replaceAll(/^(?=.)/gm, '    ')).join('\n\n')
  return `${[...head, ...free, ...(inClass > 0 ? [`class Stock:\n${body}`] : [])].join('\n\n\n')}\n`
}

function pythonFunction(random: Random, name: string, first = ''): string {
  const docstring = random.chance(0.3) ? '"""Return what the name says."""\n    ' : ''
  return `def ${name}(${first}items):\n    ${docstring}${random.pick(bodies)}`
}
