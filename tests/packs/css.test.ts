import { describePack } from './describe-pack.fixture.ts'

describePack('css', [
  [
    'rules by their selectors on one line',
    ':root,\na  >  b:hover { x: y }\n.c::before {\n  x: y;\n}\n',
    ['rule :root, a > b:hover 1-2', 'rule .c::before 3-5'],
  ],
  [
    'rules in rules and in media queries',
    '@media screen, (min-width: 1px)\nand (max-width: 2px) {\n  .d {\n    &:hover { x: y }\n  }\n}\n',
    [
      'media @media screen, (min-width: 1px) and (max-width: 2px) 1-6',
      'rule @media screen, (min-width: 1px) and (max-width: 2px) .d 3-5',
      'rule @media screen, (min-width: 1px) and (max-width: 2px) .d &:hover 4-4',
    ],
  ],
  [
    'other rules with a block as they are written',
    '@supports (display: grid) { a { x: y } }\n@font-face { x: y }\n@layer base { }\n@layer { }\n@scope (.x) to (.y) { a { x: y } }\n',
    [
      'at_rule @supports (display: grid) 1-1',
      'rule @supports (display: grid) a 1-1',
      'at_rule @font-face 2-2',
      'at_rule @layer base 3-3',
      'at_rule @layer 4-4',
      'at_rule @scope (.x) to (.y) 5-5',
      'rule @scope (.x) to (.y) a 5-5',
    ],
  ],
  [
    'keyframes',
    '@keyframes spin {\n  from { x: y }\n  50% { x: z }\n}\n@-webkit-keyframes spin { from { x: y } }\n',
    ['keyframes spin 1-4', 'keyframes spin 5-5'],
  ],
  ['nothing in rules without a block', '@charset "utf-8";\n@import url(x);\n@layer a, b;\n', []],
  ['what parses around a syntax error', '.a { x: y }\n.b { x: ]]; }\n.c { x: y }\n', ['rule .a 1-1', 'rule .c 3-3']],
])
