import { plain } from "../../base/Failures.js"
import { write } from "../../terminal/Print.js"

/**
 * Types of messages from a provider to Docker Compose. `info` and `error` are for the person. `setenv` sets a variable with
 * the service's name before it, and `rawsetenv` sets one as it is.
 */
export type MessageType = "info" | "error" | "setenv" | "rawsetenv"

/** Writes a message of the provider protocol of Docker Compose: an object a line (docker/compose, docs/extension.md). */
export const say = (type: MessageType, message: string) => write(`${JSON.stringify({ type, message })}\n`)

/** Tells a person something. Compose shows it at the service. */
export const tell = (type: "info" | "error", sentence: string) => say(type, plain(sentence))
