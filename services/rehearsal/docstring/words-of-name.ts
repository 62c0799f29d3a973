const acronyms = new Set(
  'api ast aws cli cpu css csv db dns ean ftp gpu html http https id io ip json jwt lru mime os pdf sha sku smtp sql ssh ssl tcp tls ttl udp ui upc uri url utc utf uuid xml yaml'.split(
    ' ',
  ),
)

const longForms = new Map(
  Object.entries({
    args: 'arguments',
    attr: 'attribute',
    attrs: 'attributes',
    avg: 'average',
    calc: 'calculate',
    cfg: 'configuration',
    cmd: 'command',
    config: 'configuration',
    ctx: 'context',
    dict: 'dictionary',
    dir: 'directory',
    doc: 'document',
    env: 'environment',
    fn: 'function',
    func: 'function',
    idx: 'index',
    init: 'initialize',
    int: 'integer',
    len: 'length',
    max: 'maximum',
    min: 'minimum',
    msg: 'message',
    num: 'number of',
    param: 'parameter',
    params: 'parameters',
    src: 'source',
    str: 'string',
    temp: 'temporary',
    tmp: 'temporary',
    val: 'value',
  }),
)

/** The words of `snake_case` and `CamelCase` names, lower case but for acronyms, common short forms written out. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .split('_')
    .filter((word) => word !== '')
    .map((word) => spell(word.toLowerCase()))
}

function spell(word: string): string {
  if (acronyms.has(word)) return word.toUpperCase()
  if (word.endsWith('s') && acronyms.has(word.slice(0, -1))) return `${word.slice(0, -1).toUpperCase()}s`
  return longForms.get(word) ?? word
}

/** `a` or `an`, by the first letter's sound in the common cases. */
export function indefiniteArticle(phrase: string): 'a' | 'an' {
  const first = phrase.split(' ')[0] ?? ''
  if (/^[A-Z]{2,}s?$/.test(first)) return /^[AEFHILMNORSX]/.test(first) ? 'an' : 'a'
  if (/^(uni|use|user|one|eu)/i.test(first)) return 'a'
  return /^[aeiou]/i.test(first) || /^(hour|honest|heir)/i.test(first) ? 'an' : 'a'
}

export function isPlural(word: string): boolean {
  return word.endsWith('s') && !/(ss|us|is|as|ous)$/.test(word)
}
