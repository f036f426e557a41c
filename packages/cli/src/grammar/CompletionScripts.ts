import type { Offer, CompletionContext } from "./CompletionContexts.js"

/** How a shell says it; the parser's own scripts stop at names with a hyphen, and offer no files. */
interface Shell {
  /** The pattern of a place, in quotes where it is no wildcard. */
  readonly pattern: (place: CompletionContext, previous?: string) => string
  readonly clause: (pattern: string, body: string) => string
  readonly offer: (offers: ReadonlyArray<Offer>) => string
  /** Returns code that runs the body only where an option has been begun. */
  readonly whenOption: (body: string) => string
  /** Returns code that runs the body only right after the two words of a command. */
  readonly whenThird: (body: string) => string
  /** Has names asked for, by a syntax and the number of words in front of what it describes. */
  readonly names: (syntax: string, wordsBefore: number) => string
}

const valueClauses = (places: ReadonlyArray<CompletionContext>, shell: Shell) =>
  places.flatMap((place) =>
    place.options
      .filter(({ choices }) => choices.length > 0)
      .map(({ choices, word }) =>
        shell.clause(shell.pattern(place, word), shell.offer(choices.map((choice) => ({ word: choice, text: "" }))))
      )
  )

const wordClauses = (places: ReadonlyArray<CompletionContext>, shell: Shell) =>
  places.map((place) => {
    const { isNameLonger = false, options, second, syntax, words } = place
    const offers = words.length > 0 ? [shell.offer(words)] : []
    const parts = [
      ...(syntax === undefined ? [] : [shell.names(syntax, second === undefined ? 2 : 3)]),
      ...(isNameLonger ? offers.map(shell.whenThird) : offers),
      ...(options.length > 0 ? [shell.whenOption(shell.offer(options))] : [])
    ]
    return shell.clause(shell.pattern(place), parts.join("; "))
  })

const single = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const posixPattern = ({ first, second }: CompletionContext, previous?: string) => {
  const place = second === undefined ? `${single(`${first} `)}*` : single(`${first} ${second}`)
  return previous === undefined ? place : `${place}${single(` ${previous}`)}`
}

const posix: Pick<Shell, "pattern" | "clause" | "names"> = {
  pattern: posixPattern,
  clause: (pattern, body) => `    ${pattern}) ${body} ;;`,
  names: (syntax, wordsBefore) => `from=${wordsBefore} syntax=${single(syntax)}`
}

const bash: Shell = {
  ...posix,
  offer: (offers) => `offers=${single(offers.map(({ word }) => word).join(" "))}`,
  whenOption: (body) => `[[ $cur == -* ]] && ${body}`,
  whenThird: (body) => `((index == 3)) && ${body}`
}

const inBash = (places: ReadonlyArray<CompletionContext>) => [
  "_coffer() {",
  "  local first= second= offers= syntax= from= word glued= i index=0",
  "  local -a words=()",
  // Bash makes `=`, `:` and `@` words of their own.
  "  for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do",
  "    word=${COMP_WORDS[i]}",
  "    if ((i > 1)) && [[ -n $word && $word != *[!=:@]* ]]; then words[${#words[@]}-1]+=$word glued=1",
  "    elif [[ -n $glued && $word != -* ]]; then words[${#words[@]}-1]+=$word glued=",
  '    else words+=("$word") glued=; fi',
  "    ((i == COMP_CWORD)) && index=$((${#words[@]} - 1))",
  "  done",
  "  local cur=${words[index]} previous=${words[index-1]}",
  "  ((index > 1)) && first=${words[1]}",
  "  ((index > 2)) && second=${words[2]}",
  "  if [[ $cur == --*=* ]]; then previous=${cur%%=*} cur=${cur#*=}; fi",
  '  case "$first $second $previous" in',
  ...valueClauses(places, bash),
  '    *) case "$first $second" in',
  ...wordClauses(places, bash),
  "    esac ;;",
  "  esac",
  '  COMPREPLY=($(compgen -W "$offers" -- "$cur"))',
  "  if [[ ${#COMPREPLY[@]} == 0 && -n $syntax && $cur != -* ]]; then",
  // Not by compgen, which expands what it reads.
  '    while IFS= read -r word; do [[ -n $word ]] && COMPREPLY+=("$word")',
  '    done <<< "$(command coffer __complete "$syntax" $((index - from)) "${words[@]:from}" 2>/dev/null)"',
  // Names keep their order, from bash 4.4 on.
  "    compopt -o nosort 2>/dev/null",
  "    [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null",
  // Readline replaces only what follows the last `@` or `:`.
  '    if [[ $COMP_WORDBREAKS == *@* && $cur == *[@:]* ]]; then COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[@:]}"}"}"); fi',
  "  fi",
  "  return 0",
  "}",
  // Where nothing is offered, files are.
  "complete -o default -F _coffer coffer"
]

const zsh: Shell = {
  ...posix,
  offer: (offers) =>
    `offers=(${offers.map(({ text, word }) => single(text === "" ? word : `${word}:${text}`)).join(" ")})`,
  whenOption: (body) => `[[ $current == -* ]] && ${body}`,
  whenThird: (body) => `(( CURRENT == 4 )) && ${body}`
}

const inZsh = (places: ReadonlyArray<CompletionContext>) => [
  "#compdef coffer",
  "_coffer() {",
  "  local current=${words[CURRENT]} previous=${words[CURRENT-1]} first= second= syntax= from=",
  "  local -a offers names",
  "  (( CURRENT > 2 )) && first=${words[2]}",
  "  (( CURRENT > 3 )) && second=${words[3]}",
  "  if [[ $current == --*=* ]]; then previous=${current%%=*} current=${current#*=}; compset -P '*='; fi",
  '  case "$first $second $previous" in',
  ...valueClauses(places, zsh),
  '    *) case "$first $second" in',
  ...wordClauses(places, zsh),
  "    esac ;;",
  "  esac",
  "  if (( $#offers )); then _describe coffer offers; return; fi",
  "  if [[ -n $syntax && $current != -* ]]; then",
  '    names=(${(f)"$(command coffer __complete "$syntax" $((CURRENT - from - 1)) "${(@)words[from+1,-1]}" 2>/dev/null)"})',
  "  fi",
  "  if (( $#names )); then",
  // In a group that is not sorted.
  "    compadd -V names -S '' -- ${(M)names:#*/}",
  "    compadd -V names -- ${names:#*/}",
  "  else _files; fi",
  "}",
  // In a folder of the shell's functions the file is the function; else it is read by `source`.
  'if [[ "$funcstack[1]" == _coffer ]]; then _coffer "$@"; else compdef _coffer coffer; fi'
]

const fishQuote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const fish: Shell = {
  pattern: ({ first, second }, previous) =>
    fishQuote(`${first} ${second ?? "*"}${previous === undefined ? "" : ` ${previous}`}`),
  clause: (pattern, body) => `    case ${pattern}\n      ${body}`,
  offer: (offers) =>
    `printf '%s\\t%s\\n' ${offers.map(({ text, word }) => `${fishQuote(word)} ${fishQuote(text)}`).join(" ")}`,
  whenOption: (body) => `string match -q -- '-*' $current; and ${body}`,
  whenThird: (body) => `test (count $words) -eq 3; and ${body}`,
  names: (syntax, wordsBefore) => `__coffer_names ${fishQuote(syntax)} ${wordsBefore} $words`
}

const inFish = (places: ReadonlyArray<CompletionContext>) => [
  "function __coffer_names -a syntax from",
  "  set -l current (commandline -ct)",
  "  string match -q -- '-*' $current; and not string match -q -- '--*=*' $current; and return",
  "  set -l words $argv[3..-1]",
  "  set -l behind $words[(math $from + 1)..-1]",
  '  command coffer __complete $syntax (count $behind) $behind "$current" 2>/dev/null',
  "end",
  "function __coffer_offers -a current previous",
  "  set -l words (commandline -opc)",
  '  set -l place "$words[2] $words[3]"',
  '  switch "$place $previous"',
  ...valueClauses(places, fish),
  "    case '*'",
  '  switch "$place"',
  ...wordClauses(places, fish),
  "  end",
  "  end",
  "end",
  "function __coffer_complete",
  "  set -l current (commandline -ct)",
  "  set -l previous (commandline -opc)[-1]",
  "  set -l prefix ''",
  "  if string match -q -- '--*=*' $current",
  "    set previous (string replace -r '=.*' '' -- $current)",
  "    set prefix $previous=",
  "    set current (string replace -r '^[^=]*=' '' -- $current)",
  "  end",
  '  set -l offers (__coffer_offers "$current" "$previous")',
  "  if count $offers >/dev/null",
  "    printf '%s\\n' $prefix$offers",
  "  else",
  '    __fish_complete_path "$current"',
  "  end",
  "end",
  "complete -c coffer -e",
  // Commands and options keep the order of the help, and names that of the lists.
  "complete -c coffer -f -k -a '(__coffer_complete)'"
]

export const completionScripts = { bash: inBash, zsh: inZsh, fish: inFish } as const
