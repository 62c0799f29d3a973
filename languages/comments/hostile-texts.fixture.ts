import { fc } from '#testing/fast-check.ts'

/** Pieces that end comments or strings, join lines, are obeyed by tools, or are read differently by compilers and grammars. */
const hostile = [
  ['*/', '/*', '//', '*', '///', '#', "'''", '"""', '"', '`', '${', '{', '}', '\\', '\\\n', '??/', '??/\n', '__END__'],
  ['\n', '\r\n', '\r', '\v', '\f', '\0', '\x1a', '\x85', '\u2028', '\u2029', '\ufeff', '\u202e', '\u061c', '\ud800'],
  ['\\u002a\\u002f', '\\uuu002a/', '\\u000a', '\\u005cu002a', '\\\\u002a/', '\\users', '\\x', '\\N{x}', '=end\n'],
  ['<!--', '-->', '--!>', '?>', '</script>', '@internal', '@jsx h', '#__PURE__', '@ts-ignore', 'go:build', '//a:b'],
  ['```', '~~~', '> ```', '- ```', '>     f()', '\n\n    f()', '>>> f()', '.. include:: /x', '@param a - x', '#[x]'],
  ['eslint-disable x', 'Output:', '    ', '\t', ' ', 'B', 'f', 'word', 'a word of ten letters or more'],
].flat()

/** Texts of a model that wants to leave its comment. */
export const hostileText = fc
  .tuple(
    fc.constantFrom('', 'Word. ', 'B is it. ', 'Say it.\n\n'),
    fc.array(fc.oneof(fc.constantFrom(...hostile), fc.string()), { maxLength: 12 }),
  )
  .map(([start, parts]) => start + parts.join(''))
