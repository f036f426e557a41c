import * as Schema from "effect/Schema"
import { field, optional } from "../base/Schemas.js"

/** A program that asks a person for a delegation. */
export const AskingProgram = Schema.Struct({
  name: field(Schema.String, "how the program names itself, which nobody has checked", "Claude"),
  host: optional(
    Schema.String,
    "the host whose document describes it; absent: nobody vouches for the program",
    "agents.example.com"
  )
}).annotations({ identifier: "AskingProgram", description: "a program that asked for a delegation by OAuth" })
export type AskingProgram = typeof AskingProgram.Type
