import type { Offer, CompletionContext } from "./CompletionContexts.js"

/** How a shell says it; the parser's own scripts stop at names with a hyphen, and offer no files. */
interface Shell {
  readonly quote: (text: string) => string
  /** The pattern of a place, in quotes where it is no wildcard. */
  readonly pattern: (place: CompletionContext, previous?: string) => string
  readonly clause: (pattern: string, body: string) => string
  readonly offer: (offers: ReadonlyArray<Offer>) => string
  /** What is done only where an option has been begun. */
  readonly whenOption: (body: string) => string
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
    const parts = [
      ...(place.words.length > 0 ? [shell.offer(place.words)] : []),
      ...(place.options.length > 0 ? [shell.whenOption(shell.offer(place.options))] : [])
    ]
    return shell.clause(shell.pattern(place), parts.join("; "))
  })

const single = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const posixPattern = ({ first, second }: CompletionContext, previous?: string) => {
  const place = second === undefined ? `${single(`${first} `)}*` : single(`${first} ${second}`)
  return previous === undefined ? place : `${place}${single(` ${previous}`)}`
}

const posix: Pick<Shell, "quote" | "pattern" | "clause"> = {
  quote: single,
  pattern: posixPattern,
  clause: (pattern, body) => `    ${pattern}) ${body} ;;`
}

const bash: Shell = {
  ...posix,
  offer: (offers) => `words=${single(offers.map(({ word }) => word).join(" "))}`,
  whenOption: (body) => `[[ $cur == -* ]] && ${body}`
}

const inBash = (places: ReadonlyArray<CompletionContext>) => [
  "_coffer() {",
  "  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} first= second= words=",
  "  (( COMP_CWORD > 1 )) && first=${COMP_WORDS[1]}",
  "  (( COMP_CWORD > 2 )) && second=${COMP_WORDS[2]}",
  '  case "$first $second $previous" in',
  ...valueClauses(places, bash),
  '    *) case "$first $second" in',
  ...wordClauses(places, bash),
  "    esac ;;",
  "  esac",
  '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
  "}",
  // Where nothing is offered, files are.
  "complete -o default -F _coffer coffer"
]

const zsh: Shell = {
  ...posix,
  offer: (offers) =>
    `offers=(${offers.map(({ text, word }) => single(text === "" ? word : `${word}:${text}`)).join(" ")})`,
  whenOption: (body) => `[[ $current == -* ]] && ${body}`
}

const inZsh = (places: ReadonlyArray<CompletionContext>) => [
  "#compdef coffer",
  "_coffer() {",
  "  local current=${words[CURRENT]} previous=${words[CURRENT-1]} first= second=",
  "  local -a offers",
  "  (( CURRENT > 2 )) && first=${words[2]}",
  "  (( CURRENT > 3 )) && second=${words[3]}",
  '  case "$first $second $previous" in',
  ...valueClauses(places, zsh),
  '    *) case "$first $second" in',
  ...wordClauses(places, zsh),
  "    esac ;;",
  "  esac",
  "  if (( $#offers )); then _describe coffer offers; else _files; fi",
  "}",
  // In a folder of the shell's functions the file is the function; else it is read by `source`.
  'if [[ "$funcstack[1]" == _coffer ]]; then _coffer "$@"; else compdef _coffer coffer; fi'
]

const fishQuote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const fish: Shell = {
  quote: fishQuote,
  pattern: ({ first, second }, previous) =>
    fishQuote(`${first} ${second ?? "*"}${previous === undefined ? "" : ` ${previous}`}`),
  clause: (pattern, body) => `    case ${pattern}\n      ${body}`,
  offer: (offers) =>
    `printf '%s\\t%s\\n' ${offers.map(({ text, word }) => `${fishQuote(word)} ${fishQuote(text)}`).join(" ")}`,
  whenOption: (body) => `string match -q -- '-*' (commandline -ct); and ${body}`
}

const inFish = (places: ReadonlyArray<CompletionContext>) => [
  "function __coffer_offers",
  "  set -l words (commandline -opc)",
  '  set -l place "$words[2] $words[3]"',
  '  switch "$place $words[-1]"',
  ...valueClauses(places, fish),
  "    case '*'",
  '  switch "$place"',
  ...wordClauses(places, fish),
  "  end",
  "  end",
  "end",
  "complete -c coffer -e",
  "complete -c coffer -a '(__coffer_offers)'",
  // Where something is offered, files are not.
  "complete -c coffer -n 'count (__coffer_offers) >/dev/null' -f"
]

export const completionScripts = { bash: inBash, zsh: inZsh, fish: inFish } as const
