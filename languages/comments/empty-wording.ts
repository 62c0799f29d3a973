export type Described = { name: string; signature: string }

/** Words that say nothing by themselves: of grammar, of code as such, and verbs and nouns that fit any definition. */
const empty = new Set(
  `a an the this that these those its it is are was were be been being will would can could should must may might do does
  did done has have had having of in on at by to for from with without into onto out up off as and or but nor not no if
  then than when where while which who whose what whether how there here all any each every some one other same such
  just also so very more own per via about given current specific corresponding appropriate necessary provided passed
  specified associated related various certain
  return yield get set give take make perform carry execute handle run use call define create implement provide represent
  describe contain hold signal show check apply initialize construct compute obtain retrieve say want need
  value result object instance item element thing step context name type kind function method class module property
  attribute interface struct record enum trait union annotation constructor variable parameter argument param arg keyword
  positional optional required additional default true false none null undefined nil body code package test
  next raise throw error exception self`
    .split(/\s+/)
    .map(stem),
)

/**
 * Says why a text says nothing that the signature does not: the part about the whole, and that about each parameter, needs a word that is
 * neither in the name, kind and signature nor among the empty ones. Endings do not count.
 */
export function emptyWording(content: string, { name, signature }: Described): string | undefined {
  const known = new Set(wordsOf(`${name} ${signature}`))
  const saysNothing = (text: string) => wordsOf(text).every((word) => known.has(word) || empty.has(word))
  const { about, parameters } = textsIn(content)
  if (saysNothing(about)) return 'it says nothing that its name and signature do not say'
  const idle = parameters.find(({ text }) => saysNothing(text))
  return idle && `the text of ${idle.name} says nothing that the signature does not say`
}

/** Lists the words in lower case, without endings; `camelCase` and `snake_case` are taken apart. Numbers and comparisons count as words. */
function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
  return (parted.toLowerCase().match(/[\p{L}\p{N}]+|[<>=!]=|(?<=\s)[<>](?=\s)/gu) ?? []).map(stem)
}

function stem(word: string): string {
  return word.length < 4
    ? word
    : word
        .replace(/ies$/, 'y')
        .replace(/(?:ing|ed|es|s|er|or)$/, '')
        .replace(/e$/, '')
        .replace(/([^aeiouls])\1$/, '$1')
}

type Texts = { about: string; parameters: { name: string; text: string }[] }

// These read a line without the blanks around it, and with one for each run of blanks in it: each blank is then looked at once.
const field = /^:(?:param|parameter|arg|argument|key|keyword) (?:[^:]* )?\*{0,2}(\w+) ?:(.*)$/s
const tag = /^@(?:param|arg|argument) (?:\{[^}]*\}+ ?)?\[?(<?[\w.$]+>?)\S* ?(?:[-–—] ?)?(.*)$/s
const otherTag =
  /^(?::(?:type|rtype|raises?|except|exception|returns?|yields?)\b[^:]*:|@(?:throws|exception) (?:\{[^}]*\}+|\S+)|@\w+)/
const parameterTitle = /^(?:#+ ?)?(?:Args|Arguments|Parameters|Keyword Args|Keyword Arguments|Other Parameters) ?:?$/
const title = /^(?:#+ ?)?(?:Returns?|Yields?|Raises|Attributes|Errors|Panics|Examples?|Notes?) ?:?$/
const entry = /^(?:[*-] )?`?\*{0,2}(\w+)`? ?(?:\([^)]*\))? ?(?::(?: |$)| [-–—] |$)(.*)$/s

/** Cuts a text in any of the styles into what is said of the whole, results and errors included, and of each parameter. */
function textsIn(content: string): Texts {
  const texts: Texts = { about: '', parameters: [] }
  let section: 'parameters' | 'others' | 'prose' = 'prose'
  let depth: number | undefined
  let current: Texts['parameters'][number] | undefined
  const begin = (name: string, text: string) => texts.parameters.push((current = { name, text }))
  for (const row of content.split(/\r\n|\r|\n/)) {
    const indent = row.length - row.trimStart().length
    const line = row.trim().replaceAll(/\s+/g, ' ')
    const [, tagged, behind = ''] = field.exec(line) ?? tag.exec(line) ?? []
    const [, listed, says = ''] = section === 'prose' ? [] : (entry.exec(line) ?? [])
    const isEntry = listed !== undefined && indent <= (depth ?? indent)
    if (parameterTitle.test(line) || title.test(line)) {
      section = parameterTitle.test(line) ? 'parameters' : 'others'
      depth = current = undefined
    } else if (/^(?:[-=~^]{3,})?$/.test(line)) continue
    else if (tagged !== undefined) begin(tagged, behind)
    else if (otherTag.test(line)) {
      current = undefined
      texts.about += `\n${line.replace(otherTag, '')}`
    } else if (isEntry && section === 'parameters') {
      depth ??= indent
      // numpy has the type behind the colon, and the text below.
      begin(listed, /^\S+ : /.test(line) ? '' : says)
    } else if (isEntry) texts.about += `\n${says}`
    else if (current !== undefined) current.text += ` ${line}`
    else texts.about += `\n${line}`
  }
  return texts
}
