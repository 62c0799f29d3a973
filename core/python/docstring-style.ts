import { z } from 'zod'
import type { DocstringStyle } from '#domain/path-rules.ts'

/** How the docstrings of a file, or of a folder, are written: how many of each form. */
export const DocstringVotes = z.strictObject({
  google: z.int(),
  numpy: z.int(),
  sphinx: z.int(),
  /** Docstrings without sections, of functions that have something to say in one. */
  plain: z.int(),
  doubleQuotes: z.int(),
  singleQuotes: z.int(),
  /** Docstrings of several lines whose text begins behind the quotes, or on the line below them. */
  firstLine: z.int(),
  secondLine: z.int(),
  /** Whether an empty line stands between a class's docstring and its body. */
  classGap: z.int(),
  classNoGap: z.int(),
  /** Sections that give the types of parameters, and those that leave them to the annotations. */
  typed: z.int(),
  untyped: z.int(),
  /** Fields of Sphinx for what a function returns: `:return:` and `:returns:`. */
  returnField: z.int(),
  returnsField: z.int(),
})
export type DocstringVotes = z.infer<typeof DocstringVotes>

export const noVotes: DocstringVotes = {
  google: 0,
  numpy: 0,
  sphinx: 0,
  plain: 0,
  doubleQuotes: 0,
  singleQuotes: 0,
  firstLine: 0,
  secondLine: 0,
  classGap: 0,
  classNoGap: 0,
  typed: 0,
  untyped: 0,
  returnField: 0,
  returnsField: 0,
}

export function addedVotes(a: DocstringVotes, b: DocstringVotes): DocstringVotes {
  return {
    google: a.google + b.google,
    numpy: a.numpy + b.numpy,
    sphinx: a.sphinx + b.sphinx,
    plain: a.plain + b.plain,
    doubleQuotes: a.doubleQuotes + b.doubleQuotes,
    singleQuotes: a.singleQuotes + b.singleQuotes,
    firstLine: a.firstLine + b.firstLine,
    secondLine: a.secondLine + b.secondLine,
    classGap: a.classGap + b.classGap,
    classNoGap: a.classNoGap + b.classNoGap,
    typed: a.typed + b.typed,
    untyped: a.untyped + b.untyped,
    returnField: a.returnField + b.returnField,
    returnsField: a.returnsField + b.returnsField,
  }
}

const titles = 'Parameters|Returns?|Yields?|Raises|Warns|Receives|Attributes|Methods|Other Parameters'
const underlined = new RegExp(
  String.raw`^[ \t]*(?:${titles}|Notes|Examples|See Also)[ \t]*\r?\n[ \t]*-{3,}[ \t]*$`,
  'm',
)
const headed =
  /^([ \t]*)(?:Args|Arguments|Keyword Args|Keyword Arguments|Parameters|Returns?|Yields?|Raises|Attributes):[ \t]*\r?\n\1[ \t]+\S/m
const field =
  /^[ \t]*:(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|ivar|cvar|var|yields?|ytype)\b[^:\n]*:/m

/** The style that a docstring's sections are written in; `plain` for a text without any. */
export function styleOfDocstring(content: string): DocstringStyle {
  if (underlined.test(content)) return 'numpy'
  if (field.test(content)) return 'sphinx'
  return headed.test(content) ? 'google' : 'plain'
}

const typedParameter: Readonly<Record<DocstringStyle, RegExp | undefined>> = {
  google: /^[ \t]+\*{0,2}\w+ \([^)]+\):/m,
  numpy: /^[ \t]*\*{0,2}\w+(?:, \w+)* ?: \S/m,
  sphinx: /^[ \t]*:(?:r?type\b|(?:param|arg|parameter)[ \t]+\S+[ \t]+\*{0,2}\w+:)/m,
  plain: undefined,
}

/** Whether a docstring names the types of its parameters; undefined where it names no parameters. */
export function namesTypes(content: string, style: DocstringStyle): boolean | undefined {
  const hasParameters = /^[ \t]*(?:Args|Arguments|Parameters):?[ \t]*$|^[ \t]*:(?:param|arg|parameter)\b/m.test(content)
  return style === 'plain' || !hasParameters ? undefined : typedParameter[style]?.test(content)
}
