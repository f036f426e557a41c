import { type Signal, signal } from "@preact/signals"
import { useRef } from "preact/hooks"

/** The texts of a form, by names that the form chooses. */
export interface Texts {
  readonly textOf: (name: string) => Signal<string>
  /** The text of a field, without blanks around it. */
  readonly typed: (name: string) => string
  /** A part of the call's input: the text of a field that may be empty. */
  readonly given: (name: string, convert?: (text: string) => unknown) => Readonly<Record<string, unknown>>
}

export const useTexts = (start: Readonly<Record<string, string>> = {}): Texts => {
  const texts = useRef(new Map<string, Signal<string>>()).current
  const textOf = (name: string): Signal<string> => {
    const text = texts.get(name) ?? signal(start[name] ?? "")
    texts.set(name, text)
    return text
  }
  const typed = (name: string) => textOf(name).value.trim()
  return {
    textOf,
    typed,
    given: (name, convert = (text) => text) => (typed(name) === "" ? {} : { [name]: convert(typed(name)) })
  }
}
