import * as ParseResult from "effect/ParseResult"
import { isOwnMessage } from "../base/Message.js"

/** A rule of the contract that an input breaks. */
export interface BrokenRule {
  readonly type: ParseResult.ArrayFormatterIssue["_tag"]
  readonly path: ReadonlyArray<PropertyKey>
  /** The contract's own sentence. Undefined for the toolkit's messages, which may contain the rejected value. */
  readonly sentence: string | undefined
}

/** Returns the rules that an input breaks. The only way from a decoding failure to a text for people. */
export const brokenRules = (error: ParseResult.ParseError): ReadonlyArray<BrokenRule> =>
  ParseResult.ArrayFormatter.formatErrorSync(error).map(({ _tag: type, message, path }) => ({
    type,
    path,
    sentence: isOwnMessage(message) ? message : undefined
  }))

/** Returns the sentence of the first broken rule, or else the given one. */
export const sentenceOf = (error: ParseResult.ParseError, otherwise: string): string =>
  brokenRules(error)[0]?.sentence ?? otherwise
