import { describePack } from './describe-pack.fixture.ts'

describePack('html', [
  [
    'elements that have an id, in one another',
    '<!doctype html>\n<body>\n<div class="a" id="main">\n  <p id=two>x</p>\n  <b>no</b>\n</div>\n</body>\n',
    ['element main 3-6', 'element main.two 4-4'],
  ],
  [
    'elements without an end',
    '<img id=\'a\' src="x">\n<br id="b"/>\n<INPUT ID="c">\n',
    ['element a 1-1', 'element b 2-2', 'element c 3-3'],
  ],
  [
    'scripts and styles',
    '<head>\n<style>\na {}\n</style>\n<script id="s" src="x"></script>\n<script>\nlet x = "<p id=no>"\n</script>\n</head>\n',
    ['style style 2-4', 'script script 5-5', 'script script 6-8'],
  ],
  ['no ids of other attributes', '<p data-id="x" for="id">id="y"</p><!-- <p id="z"> -->', []],
  [
    'what parses around a syntax error',
    '<p id="a">x</p>\n<div <<>\n<p id="b">y</p>\n',
    ['element a 1-1', 'element b 3-3'],
  ],
])
