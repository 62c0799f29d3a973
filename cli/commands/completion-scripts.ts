/**
 * For each shell, a script that asks `remora complete -- WORDS…` at TAB, which answers an offer a line (a TAB and what
 * it is about may follow) and at last a line with a colon. What is typed and what is offered may be names of somebody's
 * repository, so nothing of it is ever evaluated: those of the library use `eval`, as it does in PowerShell, where
 * there is no script for that reason.
 */
export const completionScripts = {
  // Also for the bash 3.2 of macOS. bash replaces only what follows the last = or : of a word.
  bash: `_remora() {
  local line=\${COMP_LINE:0:COMP_POINT} offer
  local -a words
  IFS=$' \\t' read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  local word=\${words[\${#words[@]} - 1]}
  [[ $word == --*=* ]] && word=\${word#*=}
  local head=\${word%"\${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r offer; do
    offer=\${offer%%$'\\t'*}
    [[ $offer == :* || $offer != "$word"* ]] || COMPREPLY+=("\${offer#"$head"}")
  done < <(remora complete -- "\${words[@]:1}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _remora remora
`,
  zsh: `#compdef remora
_remora() {
  local line
  local -a offers shown
  while IFS= read -r line; do
    [[ $line == :* ]] && continue
    offers+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  }")
  done < <(remora complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  compset -P '--*='
  compadd -d shown -a offers
}
if [[ \${funcstack[1]} == _remora ]]; then _remora; else compdef _remora remora; fi
`,
  fish: `function __remora_offers
    set -l words (commandline -opc) (commandline -ct)
    remora complete -- $words[2..-1] 2>/dev/null | string match -v -- ':*'
end
complete -c remora -f -a '(__remora_offers)'
`,
} as const
