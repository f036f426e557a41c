const ownMessages = new Set<string>()

/**
 * The annotation that gives a schema its own error message. The text is fixed and never contains the rejected value, so
 * a secret value cannot leak into an error.
 */
export const withMessage = (text: string) => {
  ownMessages.add(text)
  return { message: () => ({ message: text, override: true }) }
}

/** Like `withMessage`, but the message of a nested schema (such as a list's item) takes precedence. */
export const withFallbackMessage = (text: string) => {
  ownMessages.add(text)
  return { message: () => text }
}

/** Checks that a decoding message is one of ours. Any other message may contain the rejected value. */
export const isOwnMessage = (message: string): boolean => ownMessages.has(message)
