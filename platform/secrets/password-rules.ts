import type { Allowlist, SecretRule } from './secret-rules.ts'

/*
 * What gitleaks 8.30.1 lacks: its general rule takes values of [\w.=-] alone (its issues 860, 1308, 1833 and 1958). Written
 * for this house. The shapes of an assignment are those that detect-secrets (its keywords) and betterleaks (generic-password)
 * look for, the headers those of Nosey Parker (np.http); neither their code nor their lists are here. What is judged is
 * whether a value reads as a word, a label, a placeholder or code, since a password has no entropy to measure.
 * All repeats of the patterns have bounds; those of the judges do not share a character with what follows them.
 */

const nameOfPassword = String.raw`(?:passw(?:or)?d|passphrase|pwd|(?-i:(?:(?<![A-Za-z])[Pp]ass|(?<![A-Za-z])PASS|(?<=[a-z])Pass)(?![A-Za-z])))`
const keys = ['api', 'app', 'auth', 'access', 'private', 'encryption', 'signing', 'account', 'client']
const nameOfSecret = String.raw`(?:secret|credentials?|token|(?:${keys.join('|')})[_.-]?key)`
/** Matches what still names the value itself: `SECRET_KEY_BASE`, `password_prod`, `password2`; not `password_field`. */
const suffix = String.raw`(?:[_.-]?(?:key|base|value|plain|prod(?:uction)?|dev|test|stag(?:e|ing)|live|local|root|admin|user|db|new|old|default|\d{1,3})){0,3}`
const closing = String.raw`["'\x60\])]{0,2}`
const type = String.raw`(?:\??:[ \t]?[a-z_][\w.[\]|]{0,40})?`
const operator = String.raw`(?:=>|:=|[!=]==?|[?|]{1,2}=|[=:(]|(?<=["'\x60]),(?![^\S\n]{0,40}\n)|[ \t]value=)`
const opened = String.raw`\s{0,40}(?:\(\s{0,40})?(?-i:[a-zA-Z@$]{0,2})`
/** A quote within counts as one of the value where the value goes on behind it. */
const quoted = (least: number) => String.raw`(["'\x60])((?:(?!\1)\S|\1(?=[\w!@#$%^&*])){${least},200})\1`
/** Reaches up to the next field of an address or the end of an element. */
const bare = String.raw`((?:(?!<\/|[;&]\w{1,30}=)[^\s"'\x60]){4,199}[^\s"'\x60,;)\]}])[,;)\]}]{0,3}(?=[\s"'\x60<;&]|$)`

const words = /^[\p{L}\p{M}\s._:/\\,'`"’()[\]<>{}|=-]*[?…]*$/u
const placeholder =
  /^(?:[\s._:+'"`-]|pass(?:w(?:or)?d|phrase)?|pwd?|secret|token|keys?|test(?:ing|er)?|user(?:name)?|admin|root|guest|demo|example|sample|dummy|fake|mock|foo|bar|baz|default|change(?:me|it)|your?|my|the|some|this|new|old|wrong|bad|invalid|valid|correct|strong|weak|raw|plain|confirm(?:ation)?|forbidden|value|prompt|id|db|dev|abc|xyz|x{3,9}(?!x)|utf|sha|md|argon|bcrypt|hmac|pbkdf|latin|base|oauth|aes|v|\d{1,3}(?!\d))+$/i
const template =
  /^[$%#@&!]{0,2}[{[(<].*[\]})>][sd]?$|^[)\]][.[(,;)]|^%\w+%$|^@[A-Za-z_]\w*@$|^\$[A-Za-z_]\w*$|\$\{|^\$\([^()]*\)?$|\{\{|<%|\{(?:\d?|[A-Za-z_][\w.]{0,60}(?:[!:[(][^{}]{0,60})?)\}|%\(\w{1,60}\)|^%[sdr]\W|%[sdr]['"]*$|\*{3}|\.{3}|…/
const location =
  /^(?:[a-z][a-z+]{1,20}:\/\/|(?:~|\.{0,2})\/[\w./@{}:*?=&-]*$|\^.*\$$|[#.](?:[A-Za-z_-]*|[\w-]*(?:pass|input|field)[\w-]*)$|[\w.+-]{1,60}@(?:example\.\w{3,8}|[a-z-]{1,60}\.(?:com|org|net))$)/
const counted = /^(?:[\d.,:_-]{1,5}|\d+(?:\/[a-z]+)+|0?12345\d*|\d{4}-\d\d-\d\d[\dTZ:.+-]*)$/
const name = /^[!*&@$-]{0,2}[A-Za-z_]\w*(?:(?:\.|->|::|[?!]\.)\w+)*[!?:]?$/
const expression = /^[\p{L}\s._:/\\,()[\]<>{}|&;?!*+=-]*$/u
const call = /^[!*&@$-]{0,2}[A-Za-z_$][\w$.:?>-]*[([{<]|^[$%#@&!]{0,2}[{[(<]|^\\|&&|\|\||\?\?|=>|->/
const spelled = /^(?:[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+(?:[_.-][A-Z]+)*|[a-z]+(?:[_.-][a-z]+)*)$/

const unlessSecret = (...patterns: RegExp[]): readonly Allowlist[] => [{ target: 'secret', patterns, stopwords: [] }]
const unlessText = [words, placeholder, template, location, counted]

const passwordWords = [
  'passw',
  'passphrase',
  'pwd',
  ...['=', ':', '"', "'", ' =', '_', '(', '>'].map((end) => `pass${end}`),
]
const secretWords = ['secret', 'credential', 'token', ...keys.map((kind) => `${kind}key`), '_key', '-key', '.key']

/** Passwords, keys with characters that gitleaks does not expect, and what stands in the header `Authorization`. */
export const passwordRules: readonly SecretRule[] = [
  {
    keywords: passwordWords,
    pattern: new RegExp(
      `${nameOfPassword}${suffix}${closing}${type}[ \\t]{0,20}${operator}${opened}${quoted(5)}`,
      'gi',
    ),
    group: 2,
    entropy: 1.5,
    allowed: unlessSecret(...unlessText),
  },
  {
    // As in YAML, in a comment, in an address or in a command.
    keywords: passwordWords,
    pattern: new RegExp(
      `${nameOfPassword}${suffix}${closing}(?:[ \\t]{0,20}[=:]>?[ \\t]{0,20}|>(?!@))(?![=:>])${bare}`,
      'gi',
    ),
    group: 1,
    entropy: 1.5,
    allowed: unlessSecret(...unlessText, name, expression, call),
  },
  {
    // In a file of the environment there are only literals, and variables of the shell.
    keywords: passwordWords,
    pattern:
      /(?<![a-z])(?:PASSW(?:OR)?D|PASSPHRASE|PASS|PWD)(?:_(?:PROD|PRODUCTION|DEV|TEST|STAGING|LOCAL|ROOT|ADMIN|DB|DEFAULT|\d{1,3})){0,2}=([^\s"'`]{5,200})(?=\s|$)/g,
    group: 1,
    entropy: 1.5,
    allowed: unlessSecret(...unlessText, /^\$?[{(<]|^[A-Za-z_][\w.]*\(/),
  },
  {
    // A word with digits at the end of a line, as in YAML.
    keywords: passwordWords,
    pattern:
      /(?:passw(?:or)?d|passphrase):[ \t]{1,20}([^\s"'`]{4,199}[^\s"'`,;)\]}])[,;)\]}]{0,3}[ \t]{0,20}(?=[\r\n]|$)/g,
    group: 1,
    entropy: 1.5,
    allowed: unlessSecret(...unlessText, /^[!*&][A-Za-z][\w-]*$/, call),
  },
  {
    keywords: secretWords,
    pattern: new RegExp(
      `${nameOfSecret}${suffix}${closing}${type}[ \\t]{0,20}(?:${operator}|,)${opened}${quoted(12)}`,
      'gi',
    ),
    group: 2,
    entropy: 3.3,
    allowed: unlessSecret(...unlessText, /^[\w.:/@+=-]*$/, /^[^\d]*$/),
  },
  {
    // What a parameter or an option has when nobody gives one, in code and in what describes it.
    keywords: passwordWords,
    pattern: new RegExp(
      `${nameOfPassword}[^\\n]{0,120}?\\bdefault(?:s|ing)?\\b(?: to| is| value)?[ \\t:=(]{0,5}${quoted(5)}`,
      'gi',
    ),
    group: 2,
    entropy: 1.5,
    allowed: unlessSecret(...unlessText),
  },
  {
    // Base64, as the secret keys of AWS: gitleaks' general rule takes no `+` and no `/`.
    keywords: secretWords,
    pattern: new RegExp(
      `(?:${nameOfSecret}|access[_.-]?key)[\\w.-]{0,30}${closing}[ \\t]{0,20}(?:(?:=>|:=|[:=])[ \\t]{0,20}["'\\x60]?|[(,][ \\t]{0,20}["'\\x60])([A-Za-z0-9+/]{32,200}={0,2})(?![\\w+/=-])`,
      'gi',
    ),
    group: 1,
    entropy: 4,
    allowed: unlessSecret(/^[^A-Z]*$/, /^[^a-z]*$/, /^[^\d]*$/, /^\/?(?:[A-Za-z][a-z]+\d*\/){2}/),
  },
  {
    // A token of this service (services/api/routes/access/token-record.ts).
    keywords: ['rmr_'],
    pattern: /rmr_[\w-]{43}(?![\w-])/g,
    group: 0,
    entropy: 3,
    allowed: [],
  },
  { keywords: ['django-insecure-'], pattern: /django-insecure-[^\s"'`\\]{20,100}/g, group: 0, entropy: 3, allowed: [] },
  {
    keywords: ['authorization'],
    pattern:
      /authorization["'`\])]{0,2}\s{0,5}[:=,(>]{1,2}\s{0,40}[a-z]{0,2}["'`]?[ \t]{0,5}(?:basic|bearer|token|apikey|api-key)[ \t]{1,5}([\w+/=.~:-]{8,2000})/gi,
    group: 1,
    entropy: 2,
    allowed: unlessSecret(placeholder, spelled, /^\.{3}/),
  },
  {
    keywords: ['bearer'],
    pattern: /\bbearer[ \t]{1,5}(?=[a-z+/=._~-]{0,40}\d)([\w+/=.~-]{16,2000})/gi,
    group: 1,
    entropy: 3,
    allowed: unlessSecret(placeholder),
  },
  {
    keywords: ['curl'],
    pattern: /\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]{1,2}["']?[^\s:"']{1,60}:([^\s"']{3,100})/g,
    group: 1,
    entropy: 0,
    allowed: unlessSecret(words, placeholder, template),
  },
  {
    // In an address of a database or a server, also with a sign that should have been encoded.
    keywords: ['://'],
    pattern:
      /:\/\/[^\s/?#@:"'`<>\\]{0,100}:(?!\d{1,5}[?#])((?:[^\s/@"'`<>\\]{3,200}|[^\s/@"'`<>\\]{1,2}(?=@[^\s/@:,;"'`<>\\]{1,100}@))(?:@[^\s/@:,;"'`<>\\]{0,100}){0,3})@/g,
    group: 1,
    entropy: 0,
    allowed: unlessSecret(/^(?:[$%#]?[[{(].*[\]})]|%\w+%?|\*+|x+|\.+|pass(?:word|wd)?|pw|pwd|secret|user)$/i),
  },
]
