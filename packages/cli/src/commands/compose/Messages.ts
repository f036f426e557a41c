import { plain } from "../../base/Failures.js"
import { write } from "../../terminal/Print.js"

/**
 * What a provider reports to Docker Compose: `info` and `error` for the person, `setenv` for a variable with the service's name
 * before it, `rawsetenv` for one as it is.
 */
export type MessageType = "info" | "error" | "setenv" | "rawsetenv"

/** Writes a message of the provider protocol of Docker Compose: an object a line (docker/compose, docs/extension.md). */
export const say = (type: MessageType, message: string) => write(`${JSON.stringify({ type, message })}\n`)

/** Tells a person something. Compose shows it at the service. */
export const tell = (type: "info" | "error", sentence: string) => say(type, plain(sentence))
