const texts = new Set<string>()

/**
 * The annotation that gives a schema the sentence a person reads when a value breaks it. The sentence is fixed text: what
 * did not decode is never part of it, so a secret value cannot come back in an error.
 */
export const rule = (text: string) => {
  texts.add(text)
  return { message: () => ({ message: text, override: true }) }
}

/** The same for a bound over a list: it leaves the rules of the list's items to speak for themselves. */
export const bound = (text: string) => {
  texts.add(text)
  return { message: () => text }
}

/** Whether a decoding message is one of our own sentences; every other may hold the rejected value. */
export const isRule = (message: string): boolean => texts.has(message)
