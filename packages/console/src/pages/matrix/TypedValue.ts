import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Schema from "effect/Schema"

/** A typed text as a value that can be stored. */
export const decodeValue = Schema.decodeEither(SecretValue)
