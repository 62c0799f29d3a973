/** Codes of pycodestyle, Pyflakes and mccabe that Ruff has under the same names. */
const ruffCodes = (
  'E101 E111 E112 E113 E114 E115 E116 E117 E201 E202 E203 E204 E211 E221 E222 E223 E224 E225 E226 E227 E228 E231 E241 ' +
  'E242 E251 E252 E261 E262 E265 E266 E271 E272 E273 E274 E275 E301 E302 E303 E304 E305 E306 E401 E402 E501 E502 E701 ' +
  'E702 E703 E711 E712 E713 E714 E721 E722 E731 E741 E742 E743 E902 W191 W291 W292 W293 W391 W505 W605 F401 F402 F403 ' +
  'F404 F405 F406 F407 F501 F502 F503 F504 F505 F506 F507 F508 F509 F521 F522 F523 F524 F525 F541 F601 F602 F621 F622 ' +
  'F631 F632 F633 F634 F701 F702 F704 F706 F707 F722 F811 F821 F822 F823 F841 F842 F901 C901'
).split(' ')

/** Codes that Ruff does not have: continued lines, breaks around operators, a `def` on one line, unused `global`. */
const missingCodes = 'E121 E122 E123 E124 E125 E126 E127 E128 E129 E131 E704 F824 W503 W504'.split(' ')

const defaultIgnored = ['E121', 'E123', 'E126', 'E226', 'E24', 'E704', 'W503', 'W504']

/**
 * Plugins of flake8 whose codes Ruff has under the same names and with the same meaning. Not among them: I, which is two
 * plugins of flake8 and neither sorts as Ruff does, and C8, U, R, M, Y, whose codes mean others in Ruff.
 */
const sharedPlugins =
  /^(?:A|ANN|ARG|ASYNC|B|BLE|C4|COM|D|DTZ|EM|ERA|EXE|FA|FBT|FIX|FLY|G|ICN|INP|INT|ISC|LOG|N|PD|PERF|PGH|PIE|PT|PTH|PYI|Q|RET|RSE|S|SIM|SLF|SLOT|T1|T10|T2|T20|TC|TCH|TD|TID|TRY|UP|YTT)\d*$/

/** Bugbear's opinions: only what names them, not `B` alone, switches them on. */
const bugbearOpinions = 'B9'

/** Ruff keeps pycodestyle's rules on spaces and blank lines in preview. */
export const isInPreview = (code: string) => /^(?:E1(?!01)|E2|E3|E502|W391)/.test(code)

export type Flake8Choice = {
  select: readonly string[] | undefined
  extendSelect: readonly string[]
  ignore: readonly string[] | undefined
  extendIgnore: readonly string[]
}

export type Flake8Rules = {
  /** For Ruff: codes where Ruff has the code, and the selectors of plugins. */
  select: string[]
  ignore: string[]
  /** What is on in flake8 and unknown to Ruff. */
  missing: string[]
}

/** What flake8 would have on: `own` unless `select` is given; never what is in `silent`. */
export function flake8Rules(choice: Flake8Choice, own: readonly string[], silent: readonly string[]): Flake8Rules {
  const decide = decision(choice, own)
  const isOn = (code: string) => decide(code) && !silent.some((prefix) => code.startsWith(prefix))
  const chosen = [...(choice.select ?? []), ...choice.extendSelect]
  const plugins = chosen.filter((one) => !/^(?:C|C9|C90|C901|[EFW]\d*)$/.test(one))
  const shared = plugins.filter((one) => sharedPlugins.test(one))
  const ignored = [...(choice.ignore ?? []), ...choice.extendIgnore].filter((one) => sharedPlugins.test(one))
  const hasOpinions = shared.some((one) => one.startsWith(bugbearOpinions))
  return {
    select: [...ruffCodes.filter(isOn), ...shared],
    ignore: [...ignored, ...(hasOpinions || !shared.includes('B') ? [] : [bugbearOpinions])],
    missing: [...missingCodes.filter(isOn), ...plugins.filter((one) => !sharedPlugins.test(one))],
  }
}

/**
 * flake8's decision for one code. What is chosen by name counts more than what is on or off by default; where both are by
 * name, or both by default, the longer prefix wins, and off wins over an equal on.
 */
function decision(choice: Flake8Choice, own: readonly string[]): (code: string) => boolean {
  const chosen = [...(choice.select ?? []), ...choice.extendSelect]
  const selected = choice.select === undefined ? [...own, ...choice.extendSelect] : chosen
  const dropped = [...(choice.ignore ?? []), ...choice.extendIgnore]
  const ignored = choice.ignore === undefined ? [...defaultIgnored, ...choice.extendIgnore] : dropped
  const longest = (code: string, prefixes: readonly string[]) =>
    Math.max(-1, ...prefixes.filter((prefix) => code.startsWith(prefix)).map((prefix) => prefix.length))
  return (code) => {
    if (longest(code, selected) < 0) return false
    if (longest(code, ignored) < 0) return true
    const [isChosen, isDropped] = [longest(code, chosen) >= 0, longest(code, dropped) >= 0]
    if (isChosen !== isDropped) return isChosen
    return longest(code, selected) > longest(code, ignored)
  }
}
