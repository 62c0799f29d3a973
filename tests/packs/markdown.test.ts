import { describePack } from './describe-pack.fixture.ts'

describePack('markdown', [
  [
    'sections over their bodies, nested by level',
    '# Top\n\nintro\n\n## Install\n\ntext\n\n### From Source\n\nmake\n\n## Use\n\nrun\n',
    ['section Top 1-15', 'section Top.Install 5-11', 'section Top.Install.From Source 9-11', 'section Top.Use 13-15'],
  ],
  [
    'no closing marks and no spaces in a name, but the marks within it',
    '#  Top  ##  \n## C# and `F#`\n### C #\n',
    ['section Top 1-3', 'section Top.C# and `F#` 2-3', 'section Top.C# and `F#`.C 3-3'],
  ],
  [
    'marked headings below an underlined one that is the first',
    'Top\n===\n\n## A\n\n> ## Quoted\n\n### B\n\nNext\n====\n\n## C\n',
    [
      'section Top 1-8',
      'section Top.A 4-8',
      'section Top.A.Quoted 6-6',
      'section Top.A.B 8-8',
      'section Next 10-13',
      'section Next.C 13-13',
    ],
  ],
  [
    'underlined headings among the others',
    '# One\n\na\n\nTwo\n===\n\nb\n\nThree\nand more\n---\n\nc\n\n### Four\n',
    [
      'section One 1-3',
      'section Two 5-16',
      'section Two.Three and more 10-16',
      'section Two.Three and more.Four 16-16',
    ],
  ],
  [
    'levels that are left out',
    '### Deep\n\n# Top\n\n#### Deeper\n\n## Second\n',
    ['section Deep 1-1', 'section Top 3-7', 'section Top.Deeper 5-5', 'section Top.Second 7-7'],
  ],
  [
    'a heading in a quotation within it alone',
    '## Before\n\n> # Quoted\n>\n> text\n\nafter\n\n## Next\n',
    ['section Before 1-7', 'section Before.Quoted 3-5', 'section Next 9-9'],
  ],
  ['equal names and a heading of no text', '# A\n# A\n#\n', ['section A 1-1', 'section A 2-2', 'section section 3-3']],
  ['no heading in code', '```sh\n# install\n```\n', ['code_block sh 1-3']],
  [
    'code blocks by the first word of what they say they are',
    '# A\n\n```ts title="x"\na\n```\n\n~~~\n~~~\n\n- item\n\n  ```c++\n  b\n  ```\n\nx\n\n    indented\n',
    [
      'section A 1-18',
      'code_block A.ts 3-5',
      'code_block A.code 7-8',
      'code_block A.c++ 12-14',
      'code_block A.code 18-18',
    ],
  ],
  ['a code block that nothing closes', '# A\n\n```js\nx\n', ['section A 1-4', 'code_block A.js 3-4']],
  ['tables', '# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n', ['section A 1-7', 'table A.table 3-5']],
  ['nothing in plain text', 'just text\n\n---\n\nand more\n', []],
])
